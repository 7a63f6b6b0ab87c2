"""One sandbox run for all tests of this folder."""

import pytest

from fakes.runsc_box import BoxRun, run_box
from sandbox.isolation.trials import TRIALS
from stanchion.images.bundle import Bundle
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo


@pytest.fixture(scope="session")
def ran(
    runsc: RunscInfo,
    bundle: Bundle,
    base_image: BaseImage,
    tmp_path_factory: pytest.TempPathFactory,
) -> BoxRun:
    return run_box(
        runsc=runsc.path,
        bundle=bundle.path,
        rootfs=base_image.path,
        folder=tmp_path_factory.mktemp("box"),
        trials=TRIALS,
    )
