"""Checks a value against the part of JSON Schema that run.schema.json uses."""

from typing import Any

TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": int | float, "null": type(None),
}  # fmt: skip
KNOWN = {"$schema", "$ref", "$defs", "title", "description", "type", "required", "properties", "additionalProperties",
         "items", "enum"}  # fmt: skip


def errors(value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None, where: str = "run.json") -> list:
    """What is wrong with a value, one message each; none if it is valid."""
    root = schema if root is None else root
    assert set(schema) <= KNOWN, f"{where}: this check does not know {set(schema) - KNOWN}"
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where}: {value!r} is not one of {schema['enum']}"]
    if "type" in schema:
        names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        if isinstance(value, bool) or not any(isinstance(value, TYPES[name]) for name in names):
            return [f"{where}: {value!r} is not of type {' or '.join(names)}"]
    found = []
    if isinstance(value, dict):
        found += [f"{where}: {name} is missing" for name in schema.get("required", ()) if name not in value]
        for name, one in value.items():
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties", {}))
            if inner is False:
                found.append(f"{where}: {name} is not known")
            elif inner is not True:
                found += errors(one, inner, root, f"{where}/{name}")
    if isinstance(value, list):
        for k, one in enumerate(value):
            found += errors(one, schema.get("items", {}), root, f"{where}/{k}")
    return found
