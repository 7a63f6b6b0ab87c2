from pathlib import Path

import msgspec
import pytest

from fakes.launches import KEY, order, spec
from stanchion.broker.accounts import Accounts
from stanchion.broker.config import built_in, read_config
from stanchion.protocol.launch import ModelRef
from stanchion.protocol.refusal import RefusedError

TEXT = """
version = 1
[profiles.evals.accounts.a]
api = "openai_chat"
base_url = "https://api.example.com/v1/"
credential = "env:A_KEY"
[profiles.evals.accounts.b]
api = "openai_chat"
base_url = "http://10.0.0.5:8000/v1"
credential = "none"
allow_plain_http = true
"""
for _name, _path in (("c", ""), ("d", "/v1"), ("e", "/gateway/v1/")):
    TEXT += f"""
[profiles.evals.accounts.{_name}]
api = "anthropic_messages"
base_url = "https://api.example.com{_path}"
credential = "env:{_name.upper()}_KEY"
"""
CONFIG = read_config(TEXT.encode())


def accounts(environ: dict[str, str]) -> Accounts:
    return Accounts(CONFIG, folder=Path(), environ=environ, fingerprint=lambda text: text[::-1])


def test_each_account_has_its_own_address_and_key() -> None:
    environ = dict.fromkeys(("A_KEY", "C_KEY", "D_KEY", "E_KEY"), KEY)
    found = accounts(environ)
    for name, tls, port, key in (("a", True, 443, KEY), ("b", False, 8000, None)):
        launch = msgspec.structs.replace(
            order(),
            spec=spec(profile="evals", model=ModelRef(account=name, id="m")),
            rehearsal=None,
        )
        table = CONFIG.profiles["evals"].accounts[name]
        reference, target = found.resolve(launch, table)
        assert (reference.name, reference.tls, target.port) == (name, tls, port)
        assert (target.tls is not None) is tls
        assert target.path == "/v1"
        assert (None if target.key is None else target.key.reveal()) == key
        assert reference.fingerprint == (None if key is None else key[::-1])
        assert KEY not in str(reference)
    assert environ == {}


def test_the_rehearsal_account_takes_port_and_key_from_the_launch() -> None:
    config = built_in()
    found = Accounts(config, folder=Path(), environ={}, fingerprint=lambda _: "f")
    account = config.profiles["rehearsal"].accounts["rehearsal"]
    reference, target = found.resolve(order(4321), account)
    assert reference.base_url == "http://127.0.0.1:4321/v1"
    assert (reference.credential, reference.tls) == ("rehearsal", False)
    assert target.authority == "127.0.0.1:4321"
    assert "CANARY" not in f"{reference} {target}"


def test_the_rehearsal_account_has_no_key_where_nobody_plays() -> None:
    config = built_in()
    found = Accounts(config, folder=Path(), environ={}, fingerprint=lambda _: "f")
    account = config.profiles["rehearsal"].accounts["rehearsal"]
    nobody = msgspec.structs.replace(order(4321), rehearsal=None)
    reference, target = found.resolve(nobody, account)
    assert (reference.base_url, reference.fingerprint) == (account.base_url, None)
    assert target.key is None


def test_a_missing_key_is_an_error_at_the_start() -> None:
    with pytest.raises(RefusedError, match="A_KEY"):
        accounts({})


@pytest.mark.parametrize(("name", "path"), [("c", ""), ("d", ""), ("e", "/gateway")])
def test_an_anthropic_account_takes_its_base_url_with_or_without_the_version(
    name: str, path: str
) -> None:
    found = accounts(dict.fromkeys(("A_KEY", "C_KEY", "D_KEY", "E_KEY"), KEY))
    launch = msgspec.structs.replace(
        order(), spec=spec(profile="evals", model=ModelRef(account=name, id="m")), rehearsal=None
    )
    _, target = found.resolve(launch, CONFIG.profiles["evals"].accounts[name])
    assert (target.path, target.key_header) == (path, ("x-api-key", ""))
