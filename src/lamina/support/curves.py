"""The names of the radiocarbon calibration curves."""

from ..errors import RecordError

#: The curves that iosacal holds.
CURVES = (
    *("IntCal20", "SHCal20", "Marine20"),
    *("IntCal13", "SHCal13", "Marine13"),
    *("IntCal09", "Marine09"),
    *("IntCal04", "SHCal04", "Marine04"),
    *("IntCal98", "Marine98"),
)


def curve_name(name: str) -> str:
    """The name of a curve in its usual spelling ("IntCal20"). Raises RecordError for an unknown name."""
    for known in CURVES:
        if isinstance(name, str) and name.strip().lower() == known.lower():
            return known
    raise RecordError(f"there is no calibration curve {name!r}. The curves are {', '.join(CURVES)}.")
