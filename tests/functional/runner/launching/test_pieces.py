"""Making the pieces of a run ready."""

from pathlib import Path

import pytest

from stanchion.images.bundle import Bundle
from stanchion.images.errors import ImagesError
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.runner.launching.pieces import make_ready

OPENCODE = ("opencode", "1.18.33")


def test_what_is_cached_is_used_without_a_word(
    cache_dir: Path,
    bundle: Bundle,
    base_image: BaseImage,
    opencode: HarnessPackage,
    runsc: RunscInfo,
) -> None:
    said: list[str] = []
    pieces = make_ready(cache_dir, base="debian", harness=OPENCODE, say=said.append, is_root=True)

    assert said == []
    assert (pieces.bundle.digest, pieces.base.digest) == (bundle.digest, base_image.digest)
    assert pieces.harness.digest == opencode.digest


def test_without_root_nothing_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(ImagesError, match="need root"):
        make_ready(tmp_path, base="debian", harness=OPENCODE, say=print, is_root=False)
    assert list(tmp_path.iterdir()) == []
