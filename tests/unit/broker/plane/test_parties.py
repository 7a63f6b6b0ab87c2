"""Whoever a relay meets in use has all that it asks for; of what types, the checker knows."""

import pytest

from stanchion.broker.plane.model_socket import ModelConnection
from stanchion.broker.plane.parties import Down, Scrub, Tap
from stanchion.broker.plane.response_reader import ResponseReader
from stanchion.broker.plane.scrub import Scrubber


@pytest.mark.parametrize(
    ("asked", "real"), [(Tap, ResponseReader), (Scrub, Scrubber), (Down, ModelConnection)]
)
def test_the_real_one_has_all(asked: type, real: type) -> None:
    names = {name for name in (*vars(asked), *asked.__annotations__) if not name.startswith("_")}
    assert len(names) > 2
    assert names <= set(dir(real))
