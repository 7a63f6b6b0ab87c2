"""`stanchion` in a state folder with the shared cache; a module names the harness that it needs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.small_tasks import Stanchion
from stanchion.images.bundle import Bundle
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo


@pytest.fixture(scope="module")
def state(
    cache_dir: Path, bundle: Bundle, base_image: BaseImage, runsc: RunscInfo,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:  # fmt: skip
    """A state folder for the tests of a module; its broker ends with them."""
    folder = tmp_path_factory.mktemp("state")
    (folder / "cache").symlink_to(cache_dir)
    yield folder
    Stanchion(folder, folder)("broker", "stop", "--state-dir", str(folder))


@pytest.fixture
def stanchion(
    cache_dir: Path, bundle: Bundle, base_image: BaseImage, runsc: RunscInfo, tmp_path: Path
) -> Iterator[Stanchion]:
    """With a state folder of the test's own; its broker ends with the test."""
    state = tmp_path / "state"
    state.mkdir()
    (state / "cache").symlink_to(cache_dir)
    command = Stanchion(tmp_path, state)
    yield command
    command("broker", "stop", "--state-dir", str(state))
