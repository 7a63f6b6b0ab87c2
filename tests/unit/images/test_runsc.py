from pathlib import Path

import pytest

from stanchion.images import apt, runsc
from stanchion.images.errors import ImagesError, UnsupportedHostError


@pytest.mark.parametrize(
    "printed",
    [
        "runsc version 0.0~20240729.0\nspec: 1.0.2-dev\n",  # Debian's package
        "runsc version release-20240729.0\nspec: 1.1.0-rc.1\n",  # gVisor's own build
        "runsc version release-20240729.0-21-gfeedc0ffee\n",  # built between releases
    ],
)
def test_the_release_date_is_read_from_every_build(printed: str) -> None:
    assert runsc.parse_version(printed) == 20240729


def test_a_version_without_a_date_is_refused() -> None:
    with pytest.raises(ImagesError, match="names no release date"):
        runsc.parse_version("runsc version VERSION_MISSING\n")


def test_the_release_of_debians_main_archive_is_refused_with_the_reason() -> None:
    old = runsc.RunscInfo(Path("/usr/bin/runsc"), 20221219)

    with pytest.raises(UnsupportedHostError, match=r"release of 20221219.*--overlay2"):
        runsc.require_supported(old)
    assert not old.is_supported


def test_the_oldest_supported_release_is_accepted() -> None:
    info = runsc.RunscInfo(Path("/usr/bin/runsc"), 20240729)

    assert runsc.require_supported(info) is info


def source(label: str, codename: str) -> apt.Source:
    return apt.Source(label, codename, f"mirror/{label}", codename, "main")


def test_backports_come_from_the_mirror_that_apt_already_uses() -> None:
    configured = [
        source("Another vendor", "bookworm"),
        source("Debian-Security", "bookworm-security"),
        source("Debian", "bookworm"),
    ]

    added = runsc.backports_source(configured)

    assert added is not None
    assert "URIs: mirror/Debian\n" in added
    assert "Suites: bookworm-backports\n" in added


def test_backports_are_not_configured_twice() -> None:
    configured = [source("Debian", "bookworm"), source("Debian Backports", "bookworm-backports")]

    assert runsc.backports_source(configured) is None


def test_no_debian_archive_is_an_error_with_a_remedy() -> None:
    with pytest.raises(ImagesError, match="apt-get update"):
        runsc.backports_source([source("Another vendor", "bookworm")])
