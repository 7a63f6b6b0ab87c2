"""A tree becomes a lock: what npm and pip resolved, in their own documents' shapes."""

import pytest

from stanchion.images.errors import ImagesError
from stanchion.images.harness_store import locking
from stanchion.images.host import architecture

HERE = architecture("x86_64")
PACKAGE_LOCK = {
    "lockfileVersion": 3,
    "packages": {
        "": {"dependencies": {"tool": "1.0.0"}},
        "node_modules/tool": {"version": "1.0.0", "integrity": "sha512-a"},
        "node_modules/tool/node_modules/@a/b": {"version": "2.0.0", "integrity": "sha512-b"},
        "node_modules/tool-linux-x64": {
            "name": "tool", "version": "1.0.0-linux-x64", "integrity": "sha512-c",
            "os": ["linux"], "cpu": ["x64"], "libc": ["glibc"],
        },
        "node_modules/musl": {"version": "1", "integrity": "sha512-d", "libc": ["musl"]},
        "node_modules/arm": {"version": "1", "integrity": "sha512-e", "cpu": ["arm64"]},
        "node_modules/mac": {"version": "1", "integrity": "sha512-f", "os": ["darwin", "win32"]},
        "node_modules/unix": {"version": "1", "integrity": "sha512-g", "os": ["!win32"]},
        "node_modules/no-linux": {"version": "1", "integrity": "sha512-h", "os": ["!linux"]},
        "node_modules/unwanted": {"version": "1", "integrity": "sha512-i"},
    },
}  # fmt: skip


def test_the_packages_for_this_processor_keep_their_places_and_their_real_names() -> None:
    found = locking.npm_tree(PACKAGE_LOCK, HERE, {"unwanted"})

    assert [(archive.wanted, archive.place, archive.integrity) for archive in found] == [
        ("tool@1.0.0", "node_modules/tool", "sha512-a"),
        ("tool@1.0.0-linux-x64", "node_modules/tool-linux-x64", "sha512-c"),
        ("@a/b@2.0.0", "node_modules/tool/node_modules/@a/b", "sha512-b"),
        ("unix@1", "node_modules/unix", "sha512-g"),
    ]


def test_a_wheel_keeps_the_digest_that_pip_will_check_again() -> None:
    def item(name: str, digest: str) -> dict[str, object]:
        archive = {"hashes": {"sha256": digest * 32}}
        return {
            "metadata": {"name": name, "version": "1.0"},
            "download_info": {"archive_info": archive},
        }

    report = {"install": [item("Zoo", "01"), item("ant", "02"), item("unwanted", "03")]}
    found = locking.pypi_tree(report, {"unwanted"})

    assert [archive.package for archive in found] == ["ant", "Zoo"]
    assert found[0].integrity == "sha256-AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="
    assert found[0].place == "runtime/lib/python3/dist-packages"


@pytest.mark.parametrize(
    "wish",
    [locking.Wish(program="x"), locking.Wish(program="x", npm=("a@1",), pypi=("b==1",))],
    ids=["none", "both"],
)
def test_a_release_comes_from_one_registry(wish: locking.Wish) -> None:
    with pytest.raises(ImagesError, match="name packages of one of them"):
        locking.make(wish, HERE)
