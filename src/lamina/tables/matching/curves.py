"""Words in a column of calibration curves that name none."""

from collections.abc import Iterable

from ...errors import RecordError
from ...support.curves import CURVES, ZONES, curve_name
from ..messages import listing

#: What can stand in a column of curves.
CURVES_TO_WRITE = f"write one of {', '.join((*CURVES, *ZONES))}"


def is_curve(word: str) -> bool:
    """Whether a word names a calibration curve that lamina knows."""
    try:
        curve_name(word)
    except RecordError:
        return False
    return True


def no_curves(words: Iterable[str]) -> str:
    """What is wrong with words that name no curve, all of them in one message."""
    return f"lamina knows no calibration curve called {listing(dict.fromkeys(words))}"
