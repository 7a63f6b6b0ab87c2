import hashlib
import hmac
import os
from pathlib import Path

import pytest

from stanchion.broker.receipts.ed25519 import holds
from stanchion.broker.receipts.signing import KeyFileError, load_or_create_keys, read_public_key


def test_keys_are_made_once_and_only_their_owner_may_read_them(tmp_path: Path) -> None:
    keys = load_or_create_keys(tmp_path)

    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "install.key",
        "signing.key",
        "signing.pub",
    ]
    assert (tmp_path / "signing.key").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "install.key").stat().st_mode & 0o777 == 0o600
    assert load_or_create_keys(tmp_path).public_key == keys.public_key
    assert read_public_key(tmp_path / "signing.pub") == keys.public_key
    assert holds(public_key=keys.public_key, message=b"words", signature=keys.sign(b"words"))


def test_a_provider_key_is_named_by_a_keyed_hash(tmp_path: Path) -> None:
    keys = load_or_create_keys(tmp_path)
    install = bytes.fromhex((tmp_path / "install.key").read_text())

    expected = hmac.new(install, b"sk-secret", hashlib.sha256).hexdigest()
    assert keys.fingerprint("sk-secret") == expected
    assert keys.fingerprint("sk-other") != expected


def test_the_repr_shows_no_secret(tmp_path: Path) -> None:
    keys = load_or_create_keys(tmp_path)

    shown = repr(keys)
    assert (tmp_path / "install.key").read_text().strip() not in shown
    assert (tmp_path / "signing.key").read_text().strip() not in shown
    assert keys.public_key in shown


@pytest.mark.parametrize("name", ["signing.key", "install.key"])
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, name: str, mode: int) -> None:
    load_or_create_keys(tmp_path)
    (tmp_path / name).chmod(mode)

    with pytest.raises(KeyFileError, match=rf"{name} has mode 0{mode:o}.*chmod 600"):
        load_or_create_keys(tmp_path)


def test_a_link_to_a_key_is_refused(tmp_path: Path) -> None:
    load_or_create_keys(tmp_path)
    (tmp_path / "signing.key").rename(tmp_path / "elsewhere")
    (tmp_path / "signing.key").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(KeyFileError, match="not a link"):
        load_or_create_keys(tmp_path)


def test_a_dangling_link_is_not_followed_to_make_a_key(tmp_path: Path) -> None:
    (tmp_path / "install.key").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(KeyFileError, match="not a link"):
        load_or_create_keys(tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_in_place_of_a_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "signing.key").mkdir(mode=0o700)

    with pytest.raises(KeyFileError, match="not a plain file"):
        load_or_create_keys(tmp_path)


def test_a_pipe_in_place_of_a_key_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "signing.key", 0o600)

    with pytest.raises(KeyFileError, match="not a plain file"):
        load_or_create_keys(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_key_of_another_user_is_refused(tmp_path: Path) -> None:
    load_or_create_keys(tmp_path)
    os.chown(tmp_path / "signing.key", 12345, -1)

    with pytest.raises(KeyFileError, match="belongs to user 12345"):
        load_or_create_keys(tmp_path)


@pytest.mark.parametrize("content", ["", "00\n", "A" * 64 + "\n", "0" * 64 + "\n\n", "0" * 64])
def test_a_damaged_key_is_refused(tmp_path: Path, content: str) -> None:
    load_or_create_keys(tmp_path)
    (tmp_path / "signing.key").write_text(content)

    with pytest.raises(KeyFileError, match="holds no key"):
        load_or_create_keys(tmp_path)


def test_a_lost_private_key_is_never_replaced_in_silence(tmp_path: Path) -> None:
    load_or_create_keys(tmp_path)
    (tmp_path / "signing.key").unlink()

    with pytest.raises(KeyFileError, match="put the private key back"):
        load_or_create_keys(tmp_path)
    assert not (tmp_path / "signing.key").exists()


def test_a_public_key_of_another_pair_is_refused(tmp_path: Path) -> None:
    load_or_create_keys(tmp_path)
    (tmp_path / "signing.pub").write_text("0" * 64 + "\n")

    with pytest.raises(KeyFileError, match="does not belong"):
        load_or_create_keys(tmp_path)


def test_a_lost_public_key_is_written_again(tmp_path: Path) -> None:
    keys = load_or_create_keys(tmp_path)
    (tmp_path / "signing.pub").unlink()

    assert load_or_create_keys(tmp_path).public_key == keys.public_key
    assert read_public_key(tmp_path / "signing.pub") == keys.public_key


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"ssh-ed25519 AAAA", b"AB" * 32])
def test_a_file_without_a_public_key_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "key.pub"
    file.write_bytes(content)

    with pytest.raises(KeyFileError, match=r"key\.pub"):
        read_public_key(file)
