from pathlib import Path

import pytest

from stanchion.images import host
from stanchion.images.errors import UnsupportedHostError

BOOKWORM = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_CODENAME=bookworm\n'
OTHER = 'PRETTY_NAME="Another Linux 1"\nID=other\n'


@pytest.mark.parametrize(
    ("machine", "debian", "npm"), [("x86_64", "amd64", "x64"), ("aarch64", "arm64", "arm64")]
)
def test_a_processor_family_has_one_name_per_ecosystem(machine: str, debian: str, npm: str) -> None:
    found = host.architecture(machine)

    assert (found.debian, found.npm, found.triplet) == (debian, npm, f"{machine}-linux-gnu")


def test_another_processor_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedHostError, match="processor family is riscv64"):
        host.architecture("riscv64")


def test_this_processor_is_found_without_being_told() -> None:
    assert host.architecture() in host.ARCHITECTURES


def test_debian_12_is_accepted_and_another_system_is_named() -> None:
    host.require_debian("the bundle", host.os_release(BOOKWORM))
    with pytest.raises(UnsupportedHostError, match="this host is Another Linux 1"):
        host.require_debian("the bundle", host.os_release(OTHER))


def test_a_newer_debian_is_not_taken_for_debian_12() -> None:
    newer = {"ID": "debian", "VERSION_CODENAME": "trixie", "PRETTY_NAME": "Debian 13"}

    with pytest.raises(UnsupportedHostError, match="Debian 13"):
        host.require_debian("the bundle", newer)


@pytest.mark.parametrize(
    ("environment", "is_root", "expected"),
    [
        ({"STANCHION_STATE": "/s", "XDG_STATE_HOME": "/x"}, True, "/s"),
        ({"HOME": "/root"}, True, "/var/lib/stanchion"),
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, False, "/x/stanchion"),
        ({"HOME": "/h"}, False, "/h/.local/state/stanchion"),
    ],
)
def test_state_folder_follows_the_documented_order(
    environment: dict[str, str], is_root: bool, expected: str
) -> None:
    assert host.state_folder(environment, is_root=is_root) == Path(expected)


def test_default_cache_lies_in_the_state_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_STATE", "/s")

    assert host.default_cache_dir() == Path("/s/cache")
