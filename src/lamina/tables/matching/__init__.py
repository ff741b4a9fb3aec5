"""Texts made of words without spaces between them, matched without the backtracking of regular expressions.

A regular expression such as ``(?:lower|low|er|...)*`` tries every way to cut a text into words, of which there can be
exponentially many. Here each place of the text is tried once.
"""

import re
from collections.abc import Sequence

#: The length of the longest word.
_LONGEST = 24


class Repeated:
    """Some words, given as alternatives of a regular expression, any number of times."""

    def __init__(self, words: str) -> None:
        self._word = re.compile(words)

    def covers(self, text: str) -> bool:
        """Whether a text consists of these words, one or more."""
        return bool(text) and self._rest(text)[0]

    def around(self, text: str, centres: Sequence[str]) -> tuple[str, str, str] | None:
        """A text as the text before one of the centres, the centre, and the text after it.

        Before and after there are only words of this kind. The first centre, after the fewest words, wins.
        """
        rest = self._rest(text)
        todo, seen = [0], {0}
        while todo:
            start = todo.pop()
            for centre in centres:
                end = start + len(centre)
                if end <= len(text) and rest[end] and text.startswith(centre, start):
                    return text[:start], centre, text[end:]
            # The next to be tried is the last one: the end of the longest word.
            new = [end for end in self._ends(text, start) if end not in seen]
            seen.update(new)
            todo += new
        return None

    def _rest(self, text: str) -> list[bool]:
        """Of each place, whether only words of this kind follow, or nothing."""
        good = [False] * len(text) + [True]
        for start in range(len(text) - 1, -1, -1):
            good[start] = any(good[end] for end in self._ends(text, start))
        return good

    def _ends(self, text: str, start: int) -> list[int]:
        """Where the words that begin at a place can end, increasing."""
        first = self._word.match(text, start)
        if first is None:
            return []
        last = min(start + _LONGEST, len(text))
        found = {end for end in range(start + 1, last + 1) if self._word.fullmatch(text, start, end)}
        return sorted(found | {first.end()})
