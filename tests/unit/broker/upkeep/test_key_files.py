import os
from pathlib import Path

import pytest

from stanchion.broker.config import Config, read_config
from stanchion.broker.secrets import load_secret
from stanchion.broker.upkeep.key_files import key_file, names, store_key
from stanchion.protocol.refusal import RefusedError

KEY = "sk-CANARY-0123456789"


def config(credential: str) -> Config:
    return read_config(
        f"""
version = 1
[profiles.evals.accounts.lab]
api = "openai_chat"
base_url = "https://api.example.com/v1"
credential = "{credential}"
""".encode()
    )


def test_a_key_lands_where_the_broker_reads_it(tmp_path: Path) -> None:
    file = key_file(config("file:keys/deep/lab"), "evals/lab", folder=tmp_path)
    store_key(file, f"{KEY}\n", field="f")
    assert file == tmp_path / "keys/deep/lab"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700
    read = load_secret("file:keys/deep/lab", field="f", folder=tmp_path, environ={})
    assert read is not None
    assert read.reveal() == KEY
    assert (file.parent / ".gitignore").read_text() == "*\n"
    assert sorted(path.name for path in file.parent.iterdir()) == [".gitignore", "lab"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_key_that_was_cut_short_leaves_the_former_one_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    store_key(tmp_path / "lab", KEY, field="f")

    def interrupted(_: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(error):
        store_key(tmp_path / "lab", "sk-ANOTHER-0123456789", field="f")
    assert (tmp_path / "lab").read_text() == f"{KEY}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["lab"]


def test_a_key_is_replaced_whole_whatever_was_there(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    file = tmp_path / "key"
    file.symlink_to(other)
    store_key(file, KEY, field="f")
    assert (file.is_symlink(), other.read_text()) == (False, "mine")
    file.chmod(0o644)
    store_key(file, "sk-second", field="f")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("sk-second\n", 0o600)
    assert not (tmp_path / ".gitignore").exists()  # a folder that was there is its owner's business


@pytest.mark.parametrize("text", ["", "\n", "two words\n", "a\nb\n", f"{KEY}\n\n", "x" * 5000])
def test_what_is_no_key_is_not_stored(tmp_path: Path, text: str) -> None:
    with pytest.raises(RefusedError) as refused:
        store_key(tmp_path / "key", text, field="the key")
    assert refused.value.refusal.id == "credential_malformed"
    assert "CANARY" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_others_can_change_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o770)
    with pytest.raises(RefusedError) as refused:
        store_key(tmp_path / "key", KEY, field="f")
    assert refused.value.refusal.next == f"chmod 700 {tmp_path}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("credential", "name", "error", "words"),
    [
        ("file:k", "evals", "account_form", "evals/lab"),
        ("file:k", "/lab", "account_form", "evals/lab"),
        ("file:k", "prod/lab", "profile_unknown", "evals"),
        ("file:k", "rehearsal/rehearsal", "profile_unknown", "evals"),
        ("file:k", "evals/other", "account_missing", "lab"),
        ("env:LAB_KEY", "evals/lab", "key_not_stored", "Export LAB_KEY"),
        ("none", "evals/lab", "key_not_stored", "file:keys/evals-lab"),
        (KEY, "evals/lab", "key_not_stored", "file:keys/evals-lab"),
    ],
)
def test_other_accounts_are_refused_with_what_to_do(
    tmp_path: Path, credential: str, name: str, error: str, words: str
) -> None:
    with pytest.raises(RefusedError, match=words) as refused:
        key_file(config(credential), name, folder=tmp_path)
    assert refused.value.refusal.id == error
    assert "CANARY" not in str(refused.value)


def test_the_accounts_that_can_have_a_key() -> None:
    assert names(config("none")) == ["evals/lab"]
