import hashlib
from pathlib import Path

import pytest

from stanchion.images import apt
from stanchion.images.errors import IntegrityError

# Printed by apt 2.6 on Debian 12, with the archive's name replaced.
URIS = """\
'mirror/pool/main/g/glibc/libc6_2.36-9%2bdeb12u14_amd64.deb' libc6_2.36-9+deb12u14_amd64.deb \
2759320 SHA256:ba4f88f73dbc3ae9055f3c20f4523bfdbaf1ad13ff95e258924f77d20b4fbedf
'mirror/pool/main/z/zlib/zlib1g.deb' zlib1g_1%3a1.2.13.dfsg-1_amd64.deb 86684 SHA512:aa
W: something that apt also says
'mirror/pool/main/broken' broken.deb 12
"""
TARGETS = """\
Debian Backports|bookworm-backports|mirror/debian/|bookworm-backports|main
Debian|bookworm|mirror/debian/|bookworm|main
Debian|bookworm|mirror/debian/|bookworm|main
Debian|bookworm|mirror/debian/|bookworm|contrib
Debian|bookworm-updates|mirror/debian/|bookworm-updates|main
Debian-Security|bookworm-security|mirror/debian-security/|bookworm-security|main
Another vendor|bookworm|mirror/other/|bookworm|main
Debian|trixie|mirror/debian/|trixie|main
"""
SETTINGS = """\
APT "";
Acquire "";
Acquire::http "";
Acquire::http::Proxy "loopback:3142";
Acquire::https::Verify-Peer "true";
Acquire::Retries "3";
Acquire::Languages:: "en";
DPkg::Post-Invoke:: "rm -f /var/cache/apt/archives/*.deb || true";
"""


def test_uris_are_read_with_size_and_digest() -> None:
    first, second = apt.parse_uris(URIS)

    assert first.file_name == "libc6_2.36-9+deb12u14_amd64.deb"
    assert (first.size_bytes, first.algorithm) == (2759320, "sha256")
    assert first.checksum.startswith("ba4f88f7")
    assert second.algorithm == "sha512"


def test_only_debians_own_main_archives_make_the_base() -> None:
    chosen = apt.debian_sources(apt.parse_sources(TARGETS))

    assert [source.release for source in chosen] == [
        "bookworm",
        "bookworm-updates",
        "bookworm-security",
    ]
    assert chosen[0].as_line() == f"deb [signed-by={apt.KEYRING}] mirror/debian/ bookworm main"


def test_only_transport_settings_are_passed_on() -> None:
    assert apt.parse_transport(SETTINGS) == [
        'Acquire::http::Proxy "loopback:3142";',
        'Acquire::https::Verify-Peer "true";',
        'Acquire::Retries "3";',
    ]


@pytest.mark.parametrize(("content", "matches"), [(b"package", True), (b"pakcage", False)])
def test_a_downloaded_file_must_have_the_announced_digest(
    tmp_path: Path, content: bytes, matches: bool
) -> None:
    (tmp_path / "x.deb").write_bytes(content)
    announced = apt.Deb("x.deb", 7, "sha256", hashlib.sha256(b"package").hexdigest())

    if matches:
        assert apt.matching_file(announced, [tmp_path / "x.deb"]) == tmp_path / "x.deb"
    else:
        with pytest.raises(IntegrityError, match=r"announced x\.deb"):
            apt.matching_file(announced, [tmp_path / "x.deb"])
