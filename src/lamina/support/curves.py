"""The names of the radiocarbon calibration curves."""

import re

from ..errors import RecordError

#: The curves that end about 1950.
CURVES = (
    *("IntCal20", "SHCal20", "Marine20"),
    *("IntCal13", "SHCal13", "Marine13"),
    *("IntCal09", "Marine09"),
    *("IntCal04", "SHCal04", "Marine04"),
    *("IntCal98", "Marine98"),
)
#: Zones of post-bomb carbon, each with the curve that it continues after 1950.
ZONES = {"NH1": "IntCal20", "NH2": "IntCal20", "NH3": "IntCal20", "SH1-2": "SHCal20", "SH3": "SHCal20"}
_KNOWN = {
    **{name.lower(): name for name in CURVES},
    **{
        re.sub("[^a-z0-9]", "", f"{base}{zone}".lower()): zone for zone in ZONES for base in ("", "Bomb21", ZONES[zone])
    },
    "sh1": "SH1-2",
    "sh2": "SH1-2",
}


def curve_name(name: str) -> str:
    """The name of a curve in its usual spelling ("IntCal20"). Raises RecordError for an unknown name.

    A zone ("NH1", "SH1-2") is the curve of its hemisphere, continued to the present; "Bomb21 NH1" is the same. Case,
    spaces and punctuation do not matter, nor a whole year ("IntCal 2020"), nor the ending of files ("intcal20.14c").
    """
    found = _KNOWN.get(_plain(name)) if isinstance(name, str) and len(name) < 50 else None
    if found is None:
        raise RecordError(f"there is no calibration curve {name!r}. The curves are {', '.join((*CURVES, *ZONES))}.")
    return found


def _plain(name: str) -> str:
    plain = re.sub("[^a-z0-9]", "", name.lower())
    return re.sub(r"(?<=[a-z])(?:19|20)(?=\d\d$)", "", re.sub(r"(?<=\d\d)14c$", "", plain))
