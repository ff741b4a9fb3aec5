"""Numbers, counts and lists in words: as many digits as they deserve, a true minus sign, and units."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: Numbers below this are written with a power of ten.
SMALL = 1e-4
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 3) -> str:
    """A number to some significant digits, without an exponent where that is readable."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    if value == 0.0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if not -4 <= size <= 9:
        mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
        return f"{mantissa.replace('-', '−')}{times_ten(int(power))}"
    return f"{value:.{max(digits - 1 - size, 0)}f}".replace("-", "−")


def times_ten(power: int) -> str:
    """ " × 10⁻⁵", and nothing for a power of 0."""
    return f" × 10{str(power).translate(_RAISED)}" if power else ""


def common_power(*values: float) -> int:
    """The power of ten to take out of numbers that are all too small to be read with their zeros; else 0."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return math.floor(math.log10(largest)) if 0.0 < largest < SMALL else 0


def plain(value: float) -> str:
    """A number as it was given: all its digits, and no more."""
    mantissa, _, power = f"{value:.10g}".partition("e")
    return f"{mantissa.replace('-', '−')}{times_ten(int(power or 0))}"


def short(value: float) -> str:
    """A number to at most six significant digits, without zeros at its end."""
    return plain(float(f"{value:.6g}"))


def percent(value: float) -> str:
    """ "65 %"."""
    return f"{100.0 * value:.0f} %"


def decimals(spread: float) -> int:
    """Decimals that show a spread to two digits."""
    return 3 if not (spread > 0.0 and math.isfinite(spread)) else min(max(1 - math.floor(math.log10(spread)), 0), 9)


def fixed(value: float, places: int) -> str:
    """A number with a fixed number of decimals, never "−0"."""
    if not math.isfinite(value):
        return number(value)
    text = f"{value:.{places}f}"
    return (text[1:] if float(text) == 0.0 and text.startswith("-") else text).replace("-", "−")


def with_sd(value: float, sd: float) -> str:
    """ "0.123 ± 0.045": to two digits of the standard deviation."""
    if not sd > 0.0:
        return plain(value)
    power = common_power(value, sd)
    value, sd = value / 10.0**power, sd / 10.0**power
    text = f"{fixed(value, decimals(sd))} ± {fixed(sd, decimals(sd))}"
    return f"({text}){times_ten(power)}" if power else text


def value_and_range(value: float, low: float, high: float) -> tuple[str, str]:
    """A value and its range, "0.12" and "0.03 to 0.21", to two digits of the range's width."""
    power = common_power(value, low, high)
    places, scaled = decimals((high - low) / 10.0**power), [one / 10.0**power for one in (value, low, high)]
    middle, first, last = (f"{fixed(one, places)}{times_ten(power)}" for one in scaled)
    return middle, f"{first} to {last}"


def with_range(value: float, low: float, high: float, unit: str = "") -> str:
    """ "0.12 m (95 %: 0.03 to 0.21)"."""
    text, between = value_and_range(value, low, high)
    return f"{f'{text} {unit}'.rstrip()} (95 %: {between})"


def probability(value: float) -> str:
    """A probability estimated from draws, which cannot resolve values very close to 0 or 1."""
    if math.isnan(value):
        return "–"
    if value < 0.001:
        return "< 0.1 %"
    if value > 0.999:
        return "> 99.9 %"
    return f"{100.0 * value:.1f} %"


def count(n: int, one: str, many: str | None = None) -> str:
    """ "1 row", "3 rows", "12,345 rows"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def join_words(items: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def capitalised(name: str) -> str:
    """A name of the user's at the beginning of a sentence: "Value". Symbols such as "y", "d18O" and "δD" stay."""
    first = name.split(maxsplit=1)[0] if name.split() else ""
    word = len(first) > 1 and first.isascii() and first.isalpha() and first.islower()
    return name[0].upper() + name[1:] if word else name
