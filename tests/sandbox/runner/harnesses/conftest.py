"""A state folder whose cache holds all that a check needs."""

from pathlib import Path

import pytest

from stanchion.broker.client import StatePaths
from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo


@pytest.fixture
def state(
    cache_dir: Path, bundle: Bundle, base_image: BaseImage, opencode: HarnessPackage,
    runsc: RunscInfo,
) -> StatePaths:  # fmt: skip
    return StatePaths(cache_dir.parent)
