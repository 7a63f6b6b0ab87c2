import os
from collections.abc import Callable
from pathlib import Path

from stanchion.images import tree


def make(root: Path) -> Path:
    (root / "sub/deep").mkdir(parents=True)
    (root / "a").write_text("one")
    (root / "sub/b").write_text("two")
    (root / "sub/deep/link").symlink_to("../b")
    return root


def test_items_are_sorted_and_tell_kind_mode_size_and_content(tmp_path: Path) -> None:
    make(tmp_path)
    (tmp_path / "a").chmod(0o755)

    found = {item.path: item for item in tree.items(tmp_path)}

    assert list(found) == ["a", "sub", "sub/b", "sub/deep", "sub/deep/link"]
    assert found["a"].kind is tree.Kind.FILE
    assert (found["a"].mode, found["a"].size_bytes) == (0o755, 3)
    assert found["a"].content == tree.file_sha256(tmp_path / "a")
    assert found["sub"].kind is tree.Kind.FOLDER
    assert (found["sub/deep/link"].kind, found["sub/deep/link"].content) == (
        tree.Kind.LINK,
        "../b",
    )


def test_digest_is_equal_for_equal_content_whatever_the_times(tmp_path: Path) -> None:
    one, two = make(tmp_path / "one"), make(tmp_path / "two")
    os.utime(two / "a", (1, 1))

    assert tree.digest(tree.items(one)) == tree.digest(tree.items(two))
    assert tree.stamp(one) != tree.stamp(two)


def test_digest_changes_with_bytes_mode_name_and_link_target(tmp_path: Path) -> None:
    changes: dict[str, Callable[[Path], object]] = {
        "bytes": lambda root: (root / "a").write_text("two"),
        "mode": lambda root: (root / "a").chmod(0o600),
        "name": lambda root: (root / "a").rename(root / "c"),
        "added": lambda root: (root / "new").touch(),
    }
    before = tree.digest(tree.items(make(tmp_path / "before")))
    for name, change in changes.items():
        root = make(tmp_path / name)
        change(root)
        assert tree.digest(tree.items(root)) != before, name


def test_a_name_cannot_imitate_another_entry(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    (one / "a\nb").touch()
    (two / "a").touch()
    (two / "b").touch()

    assert tree.digest(tree.items(one)) != tree.digest(tree.items(two))


def test_stamp_notices_a_touched_file_and_ignores_a_new_empty_folder(tmp_path: Path) -> None:
    make(tmp_path)
    before = tree.stamp(tmp_path)

    (tmp_path / "opt").mkdir()
    assert tree.stamp(tmp_path) == before

    os.utime(tmp_path / "sub/b", ns=(1, 1))
    assert tree.stamp(tmp_path) != before


def test_without_folders_and_size(tmp_path: Path) -> None:
    content = tree.items(make(tmp_path))

    assert [item.path for item in tree.without_folders(content)] == ["a", "sub/b", "sub/deep/link"]
    assert tree.size_bytes(content) == 6


def test_a_pipe_is_named_and_never_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    (item,) = tree.items(tmp_path)

    assert (item.kind, item.size_bytes) == (tree.Kind.OTHER, 0)


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(".")

    assert [path for path, _ in tree.walk(tmp_path)] == ["loop"]
