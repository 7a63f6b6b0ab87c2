import io

import pytest
from rich.console import Console, RenderableType

from stanchion.runner.screen.region import Region


class Counted(Region):
    drawn = 0

    def _draw(self) -> RenderableType:
        with self._lock:
            self.drawn += 1
        return "what is there now"


@pytest.mark.parametrize(
    ("on_screen", "terminal", "is_drawn"),
    [(True, True, True), (True, False, False), (False, True, False)],
)
def test_it_is_drawn_on_a_terminal_where_it_is_wanted_and_gone_at_the_end(
    on_screen: bool, terminal: bool, is_drawn: bool
) -> None:
    output = io.StringIO()
    with Counted(Console(file=output, force_terminal=terminal), on_screen=on_screen) as region:
        if region._live is not None:
            region._live.refresh()
    assert region._live is None
    assert bool(region.drawn) == is_drawn == ("what is there now" in output.getvalue())
    if is_drawn:
        assert output.getvalue().endswith("\x1b[2K")  # its line is wiped
