"""Headers of errors that say something about sigmas, confidence or variance which is not understood."""

import re
from statistics import NormalDist
from typing import Any

from ..columns import Reading
from ..headers import Header
from ..messages import flag, quote

#: How many standard deviations the widths of a normal distribution are.
_WIDTHS = {"iqr": 1.349, "interquartilerange": 1.349, "fwhm": 2.355, "hwhm": 1.177}

_TWO = re.compile(
    r"(?<![\d.])2[\s-]?(?:σ|sigmas?|sd|std|standard)|two[\s-](?:sigmas?|standard)|95\s?(?:%|per ?cent)", re.IGNORECASE
)
_ONE = re.compile(
    r"(?<![\d.])1[\s-]?(?:σ|sigmas?|sd|std|standard)|one[\s-](?:sigmas?|standard)|68\s?(?:%|per ?cent)", re.IGNORECASE
)


def ask_about_sigma(reading: Reading, role: str, header: Header) -> None:
    """Ask how many sigmas the errors of a column are if its header has words or numbers that are not understood.

    role: "t" or "y". One sigma is assumed only under a header that says nothing about it.
    """
    name = f"{role}_sigma"
    if not header.unclear or header.sigma is not None or getattr(reading.options, name) is not None:
        return
    reading.ask(
        f"{quote(header.unclear)} does not say how many standard deviations these errors are",
        f"say {flag(name)} 1, {flag(name)} 2, or another number ({name}= in Python); if they are something else, such "
        "as a variance, make standard deviations of them first",
        None,
        header,
        **_likely(name, header.unclear),
    )


def _likely(name: str, unclear: str) -> dict[str, Any]:
    """The most likely number of sigmas; none for a variance and for parts of the value, of which nobody has sigmas."""
    if "variance" in unclear or "relative" in unclear:
        return {}
    level = re.search(r"(\d{1,2}(?:\.\d+)?)\s?(?:%|pct|percent)", unclear)
    if level and float(level[1]) > 0.0:
        return {name: round(NormalDist().inv_cdf(0.5 + float(level[1]) / 200.0), 3)}
    known = [number for word, number in _WIDTHS.items() if word in unclear]
    return {name: known[0] if known else 1}


def ask_about_prose(reading: Reading, role: str, header: Header) -> None:
    """Ask how many sigmas the errors of a column are if its header says nothing and a line above the table says two."""
    says = [line for line in reading.prose if _TWO.search(line)]
    if not says or any(map(_ONE.search, reading.prose)):
        return
    name = f"{role}_sigma"
    reading.ask(
        f"the header does not say how many standard deviations these errors are, but the text above the table says "
        f"{quote(says[0])}",
        f"say {flag(name)} 2 or {flag(name)} 1 ({name}= in Python)",
        None,
        header,
        **{name: 2},
    )
