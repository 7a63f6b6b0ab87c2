from pathlib import Path

import pytest

from stanchion.images import harness_store
from stanchion.images.errors import ImagesError


@pytest.mark.parametrize("name", sorted(harness_store.BUILT_IN))
def test_a_built_in_harness_is_an_empty_package_with_a_digest(tmp_path: Path, name: str) -> None:
    assert harness_store.has_harness(tmp_path, name, "1")
    assert harness_store.stored(tmp_path, name, "1") is None
    first = harness_store.ensure_harness(tmp_path, name, "1")
    again = harness_store.ensure_harness(tmp_path, name, "1")
    assert (first.cached, again.cached, first.digest) == (False, True, again.digest)
    assert [path.name for path in first.path.iterdir()] == ["manifest.json"]
    with pytest.raises(ImagesError, match="has version 1"):
        harness_store.ensure_harness(tmp_path, name, "2")
