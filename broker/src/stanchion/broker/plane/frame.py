"""The bytes around the text of a stream's event, by which the next ones are known undecoded. Pure.

Events of a stream differ in their text, as a rule, and in nothing else. Once a dialect's fold can
learn nothing from more such text, it says what stands around it, and proves that by another text in
its place. It must never give a frame in which the text is not all that may differ.
"""

from collections.abc import Callable
from typing import NamedTuple


class Frame(NamedTuple):
    """Between `start` and `end`, the inside of any JSON string may stand."""

    start: bytes
    end: bytes
    stands: Callable[[], bool]
    """Whether the fold, with all that it was told since, would still learn nothing."""

    def around(self, before: bytes, behind: bytes) -> "Frame":
        """With what stands around the event itself."""
        return self._replace(start=before + self.start, end=self.end + behind)


def always() -> bool:
    """Of a fold that never goes back on what it learned."""
    return True
