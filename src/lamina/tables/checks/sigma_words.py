"""Headers of errors that say something about sigmas, confidence or variance which is not understood."""

from ..columns import Reading
from ..headers import Header
from ..messages import flag, quote


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
        **{name: 1},
    )
