"""Finds where in a stream an event may begin that ends it or reports an error. Pure.

Each such event of a dialect has one of its markers in it. It costs little where there is none, as
in nearly every piece of a stream.
"""


class Lookout:
    """The markers of one dialect."""

    __slots__ = ("_markers", "overlap")

    def __init__(self, markers: tuple[bytes, ...]) -> None:
        """`markers` have no line end in them."""
        self._markers = markers
        self.overlap = max(map(len, markers)) - 1
        """So many bytes at the end of a piece may be the beginning of a marker that was cut."""

    def place_in(self, data: bytes) -> int | None:
        """Where the first marker begins; None = there is none."""
        for marker in self._markers:
            if data.find(marker) >= 0:  # `in` makes an error and drops it (3.11)
                return min(place for one in self._markers if (place := data.find(one)) >= 0)
        return None
