"""Numbers in words: as many digits as they deserve, a true minus sign, and units."""

from __future__ import annotations

import math


def number(value: float, digits: int = 3) -> str:
    """A number to so many significant digits, without an exponent where that can be."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    if value == 0.0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    text = f"{value:.{digits - 1}e}" if not -5 <= size <= 9 else f"{value:.{max(digits - 1 - size, 0)}f}"
    return text.replace("-", "−")


def plain(value: float) -> str:
    """A number as it was given: all its digits, and no more."""
    return f"{value:.10g}".replace("-", "−")


def percent(value: float) -> str:
    """ "65 %"."""
    return f"{100.0 * value:.0f} %"


def decimals(spread: float) -> int:
    """Decimals that show a spread to two digits."""
    return 3 if not (spread > 0.0 and math.isfinite(spread)) else min(max(1 - math.floor(math.log10(spread)), 0), 9)


def fixed(value: float, places: int) -> str:
    """A number with so many decimals, never "−0"."""
    if not math.isfinite(value):
        return number(value)
    text = f"{value:.{places}f}"
    return (text[1:] if float(text) == 0.0 and text.startswith("-") else text).replace("-", "−")


def with_sd(value: float, sd: float) -> str:
    """ "0.123 ± 0.045": to two digits of the standard deviation."""
    places = decimals(sd)
    return f"{fixed(value, places)} ± {fixed(sd, places)}" if sd > 0.0 else plain(value)


def ranged(value: float, low: float, high: float) -> tuple[str, str]:
    """A value and its range, "0.12" and "0.03 to 0.21", to two digits of the range's width."""
    places = decimals(high - low)
    return fixed(value, places), f"{fixed(low, places)} to {fixed(high, places)}"


def with_range(value: float, low: float, high: float, unit: str = "") -> str:
    """ "0.12 m (95 %: 0.03 to 0.21)"."""
    said, between = ranged(value, low, high)
    return f"{f'{said} {unit}'.rstrip()} (95 %: {between})"


def probability(value: float) -> str:
    """A probability from draws, which cannot tell a very small one from none."""
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


def listed(items: list[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""
