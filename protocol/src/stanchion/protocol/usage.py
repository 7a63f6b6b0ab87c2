"""Token usage as a provider reported it. None = not reported, never 0, in every sum too.

Providers count differently: some have the cached tokens within the input and the reasoning within
the output, some beside them. A sum over both kinds would be neither: it is unknown.
"""

from collections.abc import Iterable, Sequence

import msgspec


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one response, or a sum over several."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            **{
                name: _sum(getattr(self, name), getattr(other, name))
                for name in self.__struct_fields__
            }
        )


def _sum(left: int | None, right: int | None) -> int | None:
    """A sum is known only where both sides are."""
    return None if left is None or right is None else left + right


def total(usages: Sequence[Usage | None]) -> Usage:
    """Sum over all responses; a figure that one of them did not report is unknown in the sum."""
    if not usages or any(usage is None for usage in usages):
        return Usage()
    known = [usage for usage in usages if usage is not None]
    result = known[0]
    for usage in known[1:]:
        result += usage
    return result


def agreed(includes: Iterable[bool | None]) -> bool | None:
    """Whether figures include a part of theirs, over several: the one word of all, else None."""
    words = set(includes)
    return words.pop() if len(words) == 1 else None


def mixed(includes: Iterable[bool | None]) -> bool:
    """Whether some figures are known to include a part and others known not to."""
    return {True, False} <= set(includes)
