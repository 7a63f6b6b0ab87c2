import base64

import pytest
from msgspec import structs

from stanchion.images.errors import ImagesError
from stanchion.images.harness_store import locks
from stanchion.images.harness_store.locks import Archive, Cut, Release, Runtime, Source

ONE = Archive(source=Source.NPM, package="tool-x64", version="1.0.0", integrity="sha512-aa",
              size_bytes=3)  # fmt: skip
TWO = Archive(source=Source.NPM, package="@a/b", version="2", integrity="sha512-bb", size_bytes=4,
              place="node_modules/@a/b")  # fmt: skip
TEXT = Cut(place="text", source="bin/tool", pieces=((3, 4), (1, 1)), sha256="dd")
BINARY = Release(program="bin/tool", program_sha256="cc", archives=(ONE,))
TREE = Release(program="x.js", program_sha256="cc", runtime=Runtime.NODE, archives=(ONE, TWO))
KNOWN = {"tool": {"1.0.0": {"x64": BINARY}, "1.1.0": {"x64": BINARY}}}
SHIPPED = [
    pytest.param(release, id=f"{name}@{version}-{processor}")
    for name, versions in locks.lock().items()
    for version, releases in versions.items()
    for processor, release in releases.items()
]


@pytest.mark.parametrize("release", SHIPPED)
def test_each_shipped_lock_pins_every_archive_with_a_strong_digest(release: Release) -> None:
    lengths = {"sha512": 64, "sha256": 32}
    for archive in release.archives:
        algorithm, _, value = archive.integrity.partition("-")
        assert len(base64.b64decode(value)) == lengths[algorithm]
        assert archive.size_bytes > 0
        assert ".." not in archive.place.split("/")
        assert not archive.place.startswith("/")
    assert len(bytes.fromhex(release.program_sha256)) == 32
    places = [(archive.place, archive.source) for archive in release.archives]
    npm = [place for place, source in places if source is Source.NPM]
    assert len(set(npm)) == len(npm), "two npm packages in one place"


def test_a_lock_file_says_the_same_after_being_written_and_read_and_has_a_line_an_archive() -> None:
    releases = {"x64": TREE, "arm64": structs.replace(BINARY, cuts=(TEXT,))}
    content = locks.encode(releases)

    assert locks.decode(content) == releases
    assert locks.encode(locks.decode(content)) == content
    assert sum(b"integrity" in line for line in content.splitlines()) == 3


def test_a_release_is_named_by_its_one_archive_or_by_all_that_decides_it() -> None:
    assert BINARY.pin == "sha512-aa"
    other = Release(program="x.js", program_sha256="cc", runtime=Runtime.NODE, archives=(TWO, ONE))
    with_text = structs.replace(BINARY, cuts=(TEXT,))
    assert len({BINARY.pin, TREE.pin, other.pin, with_text.pin}) == 4
    assert TREE.size_bytes == 7


@pytest.mark.parametrize(
    ("name", "version", "processor", "sentence"),
    [
        ("other", "1.0.0", "x64", 'no harness "other" is pinned; the pinned ones are tool'),
        ("tool", "2.0.0", "x64", "pinned versions: 1.0.0, 1.1.0"),
        ("tool", "1.0.0", "arm64", r"pinned for x64, not for this machine's .*\(arm64\)"),
    ],
)
def test_what_is_not_pinned_is_refused_and_what_is_pinned_listed(
    name: str, version: str, processor: str, sentence: str
) -> None:
    with pytest.raises(ImagesError, match=sentence):
        locks.pinned(KNOWN, name, version, processor)
