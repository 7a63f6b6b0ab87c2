from pathlib import Path

import msgspec
import pytest

from fakes.launches import KEY, order, spec
from stanchion.broker.accounts import Accounts
from stanchion.broker.config import built_in, read_config
from stanchion.broker.plane.pacing.trips import Trip
from stanchion.broker.plane.target import Target
from stanchion.protocol.credentials import EnvProof, proof_of
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import ErrorClass
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
KEYS = dict.fromkeys(("A_KEY", "C_KEY", "D_KEY", "E_KEY"), KEY)
NAMES = ("A_KEY", "C_KEY", "D_KEY", "E_KEY")


def accounts(environ: dict[str, str]) -> Accounts:
    return Accounts(CONFIG, folder=Path(), environ=environ, fingerprint=lambda text: text[::-1])


def test_each_account_has_its_own_address_and_key() -> None:
    environ = dict.fromkeys(NAMES, KEY)
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
    gemini = msgspec.structs.replace(account, api=Dialect.GEMINI)
    reference, target = found.resolve(order(4321, dialect=Dialect.GEMINI), gemini)
    assert (reference.base_url, target.path) == ("http://127.0.0.1:4321/v1beta", "")


def test_the_rehearsal_account_has_no_key_where_nobody_plays() -> None:
    config = built_in()
    found = Accounts(config, folder=Path(), environ={}, fingerprint=lambda _: "f")
    account = config.profiles["rehearsal"].accounts["rehearsal"]
    nobody = msgspec.structs.replace(order(4321), rehearsal=None)
    reference, target = found.resolve(nobody, account)
    assert (reference.base_url, reference.fingerprint) == (account.base_url, None)
    assert target.key is None


def test_a_missing_key_is_an_error_of_the_launches_under_its_account() -> None:
    found = accounts({name: KEY for name in NAMES if name != "A_KEY"})
    unready = found.unready("evals")
    assert {refusal.value for refusal in unready.values()} == {"env:A_KEY"}
    assert all(refusal.next is None for refusal in unready.values()), "no command sets a variable"
    for account in unready:
        launch = msgspec.structs.replace(
            order(),
            spec=spec(profile="evals", model=ModelRef(account=account, id="m")),
            rehearsal=None,
        )
        with pytest.raises(RefusedError, match="A_KEY"):
            found.resolve(launch, CONFIG.profiles["evals"].accounts[account])


@pytest.mark.parametrize(("name", "path"), [("c", ""), ("d", ""), ("e", "/gateway")])
def test_an_anthropic_account_takes_its_base_url_with_or_without_the_version(
    name: str, path: str
) -> None:
    found = accounts(dict.fromkeys(NAMES, KEY))
    launch = msgspec.structs.replace(
        order(), spec=spec(profile="evals", model=ModelRef(account=name, id="m")), rehearsal=None
    )
    _, target = found.resolve(launch, CONFIG.profiles["evals"].accounts[name])
    assert (target.path, target.key_header) == (path, ("x-api-key", ""))


def test_one_variable_may_pay_for_several_accounts_and_is_removed_after_all() -> None:
    text = (
        TEXT
        + """
[profiles.other.accounts.a]
api = "openai_chat"
base_url = "https://api.example.com/v1/"
credential = "env:A_KEY"
"""
    )
    environ = {**dict.fromkeys(NAMES, KEY), "HOME": "/h"}
    config = read_config(text.encode())
    found = Accounts(config, folder=Path(), environ=environ, fingerprint=lambda _: "f")
    assert environ == {"HOME": "/h"}
    assert found.env_names == NAMES


def test_another_key_in_the_callers_environment_shows() -> None:
    found = accounts(dict.fromkeys(NAMES, KEY))

    def proof(name: str, value: str) -> EnvProof:
        return EnvProof(name=name, salt="00ff", proof=proof_of("00ff", value))

    assert found.differing([proof("A_KEY", KEY)]) == ()
    assert found.differing([proof("A_KEY", "sk-new"), proof("ELSE", "x")]) == ("A_KEY",)


FILED = """
version = 1
[profiles.evals.accounts.lab]
api = "openai_chat"
base_url = "https://api.example.com/v1"
credential = "file:key"
max_in_flight = 3
"""


class Filed:
    """An account whose key is in a file."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "key"
        self.write("sk-the-first-key")
        self.config = read_config(FILED.encode())
        self.accounts = Accounts(
            self.config, folder=folder, environ={}, fingerprint=lambda text: text[::-1]
        )

    def write(self, key: str) -> None:
        new = self.file.with_suffix(".new")
        new.write_text(f"{key}\n")
        new.chmod(0o600)
        new.replace(self.file)

    def resolve(self) -> Target:
        launch = msgspec.structs.replace(
            order(),
            spec=spec(profile="evals", model=ModelRef(account="lab", id="m")),
            rehearsal=None,
        )
        return self.accounts.resolve(launch, self.config.profiles["evals"].accounts["lab"])[1]


TRIP = Trip(ErrorClass.AUTH, "lab refused the key of evals/lab", "Fix: stanchion key set evals/lab")


def test_all_attempts_of_an_account_stand_in_one_queue(tmp_path: Path) -> None:
    filed = Filed(tmp_path)
    assert filed.resolve().turns is filed.resolve().turns
    assert set(filed.accounts.turns()) == {("evals", "lab")}


def test_connections_are_kept_for_one_account_and_key_alone(tmp_path: Path) -> None:
    filed, other = Filed(tmp_path), accounts(dict.fromkeys(NAMES, KEY))
    first = filed.resolve().pool
    assert first is not None
    assert filed.resolve().pool is first
    filed.write("sk-the-second-key")
    assert filed.resolve().pool is not first
    pools = [
        other.resolve(
            msgspec.structs.replace(
                order(),
                spec=spec(profile="evals", model=ModelRef(account=name, id="m")),
                rehearsal=None,
            ),
            CONFIG.profiles["evals"].accounts[name],
        )[1].pool
        for name in ("a", "c", "d")
    ]
    assert len({id(pool) for pool in [*pools, first]}) == 4


def test_a_tripped_account_takes_no_launch_until_its_key_file_is_written(tmp_path: Path) -> None:
    filed = Filed(tmp_path)
    old = filed.resolve().turns
    old.tripped(TRIP)
    with pytest.raises(RefusedError, match="nothing starts under this account"):
        filed.resolve()
    assert filed.accounts.tripped("evals") == {"lab": TRIP}
    assert filed.accounts.tripped("other") == {}
    filed.write("sk-the-first-key")
    new = filed.resolve().turns
    assert (old.trip, new.trip) == (TRIP, None)
    assert filed.accounts.tripped("evals") == {}


def test_a_key_file_that_changed_is_read_for_the_next_launch(tmp_path: Path) -> None:
    filed = Filed(tmp_path)
    before = filed.resolve()
    filed.write("sk-the-second-key")
    after = filed.resolve()
    assert before.key is not None
    assert after.key is not None
    assert (before.key.reveal(), after.key.reveal()) == ("sk-the-first-key", "sk-the-second-key")
    filed.file.unlink()
    with pytest.raises(RefusedError, match="key file"):
        filed.resolve()


def test_a_rehearsal_has_one_queue_and_its_trip_is_its_own() -> None:
    config = built_in()
    found = Accounts(config, folder=Path(), environ={}, fingerprint=lambda _: "f")
    account = config.profiles["rehearsal"].accounts["rehearsal"]
    first, same, other = (found.resolve(order(port), account)[1] for port in (4321, 4321, 4322))
    assert first.turns is same.turns
    assert first.turns is not other.turns
    first.turns.tripped(TRIP)
    with pytest.raises(RefusedError):
        found.resolve(order(4321), account)
    assert found.resolve(order(4322), account)[1].turns is other.turns
