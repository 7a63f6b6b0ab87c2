"""A clock that stands still until it is told otherwise."""


class FakeClock:
    """Starts at 1,000,000 ms; `wall` is unrelated on purpose."""

    def __init__(self, mono_ms: int = 1_000_000) -> None:
        self._mono_ms = mono_ms

    def mono_ms(self) -> int:
        return self._mono_ms

    def wall_ms(self) -> int:
        return 1_764_547_200_000

    def advance(self, ms: int) -> None:
        self._mono_ms += ms
