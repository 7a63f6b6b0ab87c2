import pickle
from pathlib import Path

import pytest

from stanchion.broker.secrets import Secret, load_secret
from stanchion.protocol.credentials import EnvProof, proof_of
from stanchion.protocol.refusal import RefusedError

KEY = "sk-CANARY-0123456789"


def load(credential: str, folder: Path, environ: dict[str, str] | None = None) -> Secret | None:
    return load_secret(credential, field="f", folder=folder, environ=environ or {})


def test_its_text_forms_are_redacted() -> None:
    secret = Secret(KEY)
    for text in (repr(secret), str(secret), f"{secret}", f"{[secret]}"):
        assert "CANARY" not in text
    with pytest.raises(TypeError):
        pickle.dumps(secret)


def test_masking_keeps_the_length() -> None:
    secret = Secret(KEY)
    assert secret.mask_text(f"a {KEY.encode().hex()} b") == f"a {'*' * 2 * len(KEY)} b"
    assert secret.spellings is not None
    assert secret.spellings.masked(f"a {KEY} b".encode()) == b"a " + b"*" * len(KEY) + b" b"
    assert secret.mask_text(f"{KEY}{KEY}") == "*" * (2 * len(KEY))


def test_a_very_short_key_is_not_looked_for() -> None:
    assert Secret("abc").spellings is None
    assert Secret("abc").mask_text("abcdef") == "abcdef"


def test_an_environment_variable_is_read(tmp_path: Path) -> None:
    environ = {"K": KEY}
    secret = load("env:K", tmp_path, environ)
    assert secret is not None
    assert secret.reveal() == KEY
    proof = EnvProof(name="K", salt="s", proof=proof_of("s", KEY))
    assert secret.proven_by(proof)
    assert not Secret("sk-another").proven_by(proof)
    assert KEY not in str(proof)


def test_a_private_file_is_read_relative_to_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY + "\n")
    (tmp_path / "key").chmod(0o600)
    secret = load("file:key", tmp_path)
    assert secret is not None
    assert secret.reveal() == KEY
    assert secret.fingerprint(lambda text: text[:3]) == "sk-"


def test_no_key_is_said_out_loud(tmp_path: Path) -> None:
    assert load("none", tmp_path) is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    (tmp_path / "key").write_text(KEY)
    (tmp_path / "key").chmod(mode)
    with pytest.raises(RefusedError, match="chmod 600"):
        load("file:key", tmp_path)


def test_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").write_text(KEY)
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "key").symlink_to(tmp_path / "real")
    with pytest.raises(RefusedError, match="symbolic link"):
        load("file:key", tmp_path)


@pytest.mark.parametrize(
    "credential", ["env:MISSING", "env:", "file:", "file:absent", "file:.", KEY, "keyring:x"]
)
def test_other_places_are_refused_without_showing_them(tmp_path: Path, credential: str) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(RefusedError) as refused:
        load(credential, tmp_path)
    assert "CANARY" not in str(refused.value)


@pytest.mark.parametrize("text", ["", "two words", "a\nb", "é", "x" * 5000])
def test_a_malformed_key_is_refused_without_showing_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "key").write_text(text)
    (tmp_path / "key").chmod(0o600)
    with pytest.raises(RefusedError) as refused:
        load("file:key", tmp_path)
    assert not text or text not in str(refused.value)
