"""Configured accounts end to end: observe policy, a key from a file, verified TLS."""

import hashlib
import ssl
from pathlib import Path

import msgspec
import pytest

from fakes.certificates import make_certificate, server_context
from fakes.launches import order, spec
from fakes.supervisor import Supervisor, ask
from fakes.upstream import response, upstream
from functional.broker.live import LiveBroker, live_broker
from stanchion.protocol.control import Enrolled
from stanchion.protocol.exchange import ErrorClass, ExchangeResult
from stanchion.protocol.launch import ModelRef, Policy
from stanchion.protocol.receipt import ExchangeEnd, Mismatched, RunOpen
from stanchion.protocol.refusal import RefusedError

KEY = "sk-CANARY-of-the-account"
OK = response(200, b'{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}')
LOWER = b'{"model":"fx-coder-1","max_tokens":32000,"reasoning_effort":"max"}'
GOOD = LOWER.replace(b"32000", b"128000")


def configure(root: Path, base_url: str, *, broker_lines: str = "") -> str:
    (root / "key").write_text(KEY + "\n", encoding="ascii")
    (root / "key").chmod(0o600)
    text = f"""
version = 1
[broker]
{broker_lines}
[profiles.evals]
policy = "observe"
[profiles.evals.accounts.lab]
api = "openai_chat"
base_url = "{base_url}"
credential = "file:key"
allow_plain_http = {str(base_url.startswith("http:")).lower()}
"""
    (root / "stanchion.toml").write_text(text, encoding="utf-8")
    return str(root / "stanchion.toml")


async def attempt(broker: LiveBroker) -> tuple[str, Supervisor]:
    launch = msgspec.structs.replace(
        order(),
        spec=spec(profile="evals", model=ModelRef(account="lab", id="fx-coder-1")),
        rehearsal=None,
    )
    async with broker.client() as client:
        opened = await client.open_run(launch)
        ticket = await client.enrol(opened.id)
    supervisor = Supervisor(Path(opened.directory))
    assert isinstance(await supervisor.enrol(ticket.token, opened.launch_sha256), Enrolled)
    return opened.id, supervisor


async def test_under_observe_a_mismatch_is_sent_and_on_record(root: Path) -> None:
    async with upstream(OK) as provider:
        config = configure(root, f"http://127.0.0.1:{provider.port}/v1")
        with live_broker(root, "--config", config) as broker:
            run, supervisor = await attempt(broker)
            reply = await ask(supervisor.directory, LOWER, lease=supervisor.lease)
            assert reply.status == 200
            assert provider.received[0].body == LOWER
            assert provider.received[0].headers["authorization"] == f"Bearer {KEY}"
            records = await broker.records(run)
            opened, found = records[0], next(r for r in records if isinstance(r, Mismatched))
            assert isinstance(opened, RunOpen)
            assert opened.launch.policy is Policy.OBSERVE
            assert opened.launch.account.credential == "file:key"
            assert not opened.launch.account.tls
            assert (found.enforced, found.mismatch.observed) == (False, "32000")
            await supervisor.close()
            view = await broker.close(run, sandbox_exit=2)
            assert view.limits.observed == (32000,)
            assert KEY not in str(view)


async def test_a_provider_that_is_trusted_is_reached_over_tls(root: Path) -> None:
    certificate = make_certificate(root)
    async with upstream(OK, tls=server_context(root)) as provider:
        config = configure(
            root,
            f"https://127.0.0.1:{provider.port}/v1",
            broker_lines=f'ca_bundle = "{certificate}"',
        )
        with live_broker(root, "--config", config) as broker:
            run, supervisor = await attempt(broker)
            assert (await ask(supervisor.directory, GOOD, lease=supervisor.lease)).status == 200
            end = next(r for r in await broker.records(run) if isinstance(r, ExchangeEnd))
            der = ssl.PEM_cert_to_DER_cert(certificate.read_text())
            assert end.answered.tls_server_name == "127.0.0.1"
            assert end.answered.tls_certificate_sha256 == hashlib.sha256(der).hexdigest()
            await supervisor.close()


async def test_a_provider_that_is_not_trusted_never_sees_the_key(root: Path) -> None:
    make_certificate(root)
    async with upstream(OK, tls=server_context(root)) as provider:
        config = configure(root, f"https://127.0.0.1:{provider.port}/v1")
        with live_broker(root, "--config", config) as broker:
            run, supervisor = await attempt(broker)
            assert (await ask(supervisor.directory, GOOD, lease=supervisor.lease)).status == 502
            end = next(r for r in await broker.records(run) if isinstance(r, ExchangeEnd))
            assert end.answered.result is ExchangeResult.UPSTREAM_UNREACHABLE
            assert end.answered.error_class is ErrorClass.CONNECT
            assert provider.received == []
            await supervisor.close()


async def test_a_key_that_is_not_there_stops_its_account_and_no_other(root: Path) -> None:
    """Also: it is looked for again at each launch, so that the broker may run before it is set."""
    config = configure(root, "http://127.0.0.1:9/v1")
    (root / "key").unlink()
    with live_broker(root, "--config", config) as broker:
        async with broker.client() as client:
            missing = (await client.profile("evals")).unready["lab"]
            assert missing.id == "credential_missing"
            assert missing.next == "stanchion key set evals/lab"
            await client.open_run(order(9, run="7f3a90c41b23"))
            with pytest.raises(RefusedError, match="the key file can be opened"):
                await attempt(broker)
            (root / "key").write_text(KEY)
            (root / "key").chmod(0o644)
            assert (await client.profile("evals")).unready["lab"].id == "credential_exposed"
            (root / "key").chmod(0o600)
            assert (await client.profile("evals")).unready == {}
        _, supervisor = await attempt(broker)
        await supervisor.close()
