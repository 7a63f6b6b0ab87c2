"""Attacks 42 and 43: names that resolve to where credentials are, and keys in the open."""

import asyncio
import socket
from pathlib import Path

import msgspec
import pytest

from fakes.launches import order, spec
from fakes.raw_sink import ANSWER_BODY
from fakes.supervisor import Supervisor, ask
from fakes.upstream import response, upstream
from functional.broker.live import live_broker
from security.broker.raw_client import BODY
from stanchion.broker.config import read_config
from stanchion.broker.plane.connecting import connect, is_link_local
from stanchion.broker.plane.target import Target
from stanchion.protocol.control import Enrolled
from stanchion.protocol.exchange import Answered
from stanchion.protocol.launch import ModelRef
from stanchion.protocol.receipt import ExchangeEnd, RunOpen
from stanchion.protocol.refusal import RefusedError

# Attack 42: names that resolve to where credentials are.

METADATA = ["169.254.169.254", "169.254.170.2", "fe80::1", "fe80::a9fe:a9fe%1"]


@pytest.mark.parametrize("address", METADATA)
def test_attack_42_such_addresses_are_known(address: str) -> None:
    assert is_link_local(address)
    assert not is_link_local("127.0.0.1")


@pytest.mark.parametrize("others", [[], ["127.0.0.1"]], ids=["alone", "behind another"])
async def test_attack_42_a_name_that_leads_there_is_not_spoken_to(
    monkeypatch: pytest.MonkeyPatch, others: list[str]
) -> None:
    """The resolver is the outside; so is the way to an address, where nobody may be met."""
    loop = asyncio.get_running_loop()
    asked: list[str] = []
    dialled: list[object] = []

    async def resolve(host: str, port: int, **_: object) -> list[object]:
        asked.append(host)
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in [*others, "169.254.169.254"]
        ]

    async def dial(*arguments: object, **_: object) -> None:
        dialled.append(arguments)

    monkeypatch.setattr(loop, "getaddrinfo", resolve)
    monkeypatch.setattr(loop, "create_connection", dial)
    target = Target(
        host="api.example.com", port=443, authority="api.example.com", path="", tls=None, key=None
    )
    with pytest.raises(OSError, match="link-local"):
        await connect(target, connect_s=20)
    assert (asked, dialled) == (["api.example.com"], [])


async def test_attack_42_what_was_checked_is_what_is_dialled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second look-up would be the moment for another answer."""
    loop = asyncio.get_running_loop()
    answers = iter(["127.0.0.1", "169.254.169.254"])

    async def resolve(_: str, port: int, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    async with upstream(response(200, ANSWER_BODY)) as provider:
        monkeypatch.setattr(loop, "getaddrinfo", resolve)
        target = Target(
            host="api.example.com",
            port=provider.port,
            authority="api.example.com",
            path="",
            tls=None,
            key=None,
        )
        connected = await connect(target, connect_s=20)
        assert connected.peer == "127.0.0.1"
        connected.close()
    assert next(answers) == "169.254.169.254"


# Attack 43: keys in the open.

OPEN = """
version = 1
[profiles.p.accounts.a]
api = "openai_chat"
credential = "none"
base_url = "{}"
"""


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.com/v1",
        "http://10.0.0.5:8000/v1",
        "http://127.0.0.1.example.com/v1",
        "http://localhost.example.com/v1",
        "http://0.0.0.0:8000/v1",
        "http://169.254.169.254/v1",
        "HTTP://api.example.com/v1",
        "ftp://api.example.com/v1",
        "api.example.com/v1",
    ],
)
def test_attack_43_plain_http_beyond_this_machine_is_refused(url: str) -> None:
    with pytest.raises(RefusedError) as refused:
        read_config(OPEN.format(url).encode())
    assert refused.value.refusal.id in {"plain_http", "config_invalid"}


async def test_attack_43_where_it_is_allowed_every_receipt_says_so(root: Path) -> None:
    async with upstream(response(200, ANSWER_BODY)) as provider:
        config = root / "stanchion.toml"
        config.write_text(OPEN.format(f"http://127.0.0.1:{provider.port}/v1"))
        with live_broker(root, "--config", str(config)) as broker:
            model = ModelRef(account="a", id="fx-coder-1")
            launch = msgspec.structs.replace(
                order(), spec=spec(profile="p", model=model, sandbox=_kept()), rehearsal=None
            )
            async with broker.client() as client:
                opened = await client.open_run(launch)
                ticket = await client.enrol(opened.id)
            supervisor = Supervisor(Path(opened.directory))
            enrolment = await supervisor.enrol(ticket.token, opened.launch_sha256)
            assert isinstance(enrolment, Enrolled)
            reply = await ask(supervisor.directory, BODY, lease=supervisor.lease)
            records = await broker.records(opened.id)
            await supervisor.close()
    assert reply.status == 200
    assert isinstance(records[0], RunOpen)
    assert records[0].launch.account.tls is False
    end = next(r for r in records if isinstance(r, ExchangeEnd))
    assert _tls(end.answered) == (None, None)


def _kept() -> object:
    return spec().sandbox


def _tls(answered: Answered) -> tuple[str | None, str | None]:
    return answered.tls_server_name, answered.tls_certificate_sha256
