"""What was understood of a table, one fact at a time, and what to be careful about."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Fact(NamedTuple):
    """One thing understood: what it is about, what was understood, and why."""

    what: str
    understood: str
    why: str = ""


@dataclass
class Notes:
    """Facts and warnings, collected while a table is read."""

    facts: list[Fact] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def fact(self, what: str, understood: str, why: str = "") -> None:
        """Add a fact."""
        self.facts.append(Fact(what, understood, why))

    def warn(self, text: str) -> None:
        """Add a warning."""
        self.warnings.append(text)
