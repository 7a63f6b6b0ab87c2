"""`broker check` and a provider on loopback: what it asks, what it says, what it never shows."""

import hashlib
import json
import ssl
from collections.abc import Mapping
from pathlib import Path

import pytest

from fakes.certificates import make_certificate, server_context
from fakes.egress_proxy import egress_proxy
from fakes.upstream import Answer, Upstream, response, sends, upstream
from stanchion.broker.upkeep.check_command import report_lines
from stanchion.broker.upkeep.checks import check_accounts
from stanchion.broker.upkeep.configured import find
from stanchion.broker.upkeep.report import Report

KEY = "sk-CANARY-0123456789"
LIST = response(200, b'{"data":[{"id":"a"},{"id":"b"}]}', headers=[("request-id", "req_7")])


async def checked(
    folder: Path,
    accounts: str,
    *,
    broker: str = "",
    live: bool = True,
    env: Mapping[str, str] | None = None,
) -> Report:
    (folder / "key").write_text(KEY + "\n")
    (folder / "key").chmod(0o600)
    file = folder / "stanchion.toml"
    file.write_text(f"version = 1\n[broker]\n{broker}\n{accounts}")
    return await check_accounts(find(str(file)), dict(env or {}), live=live)


def account(
    port: int, *, name: str = "lab", api: str = "openai_chat", scheme: str = "http",
    path: str = "/v1", credential: str = "file:key",
) -> str:  # fmt: skip
    return f"""
[profiles.evals.accounts.{name}]
api = "{api}"
base_url = "{scheme}://127.0.0.1:{port}{path}"
credential = "{credential}"
"""


def request_of(provider: Upstream) -> tuple[str, Mapping[str, str]]:
    return provider.received[0].request_line, provider.received[0].headers


async def test_one_free_question_with_the_key(tmp_path: Path) -> None:
    async with upstream(LIST) as provider:
        report = await checked(tmp_path, account(provider.port))
        line, headers = request_of(provider)
    assert line == "GET /v1/models HTTP/1.1"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert len(provider.received) == 1
    live = report.accounts[0].live
    assert live is not None
    assert (report.ok, live.status, live.models, live.key_proven) == (True, 200, 2, True)
    assert (live.request, live.request_id) == ("GET /v1/models", "req_7")
    assert "CANARY" not in str(report)


async def test_anthropic_is_asked_in_its_own_way(tmp_path: Path) -> None:
    async with upstream(LIST) as provider:
        await checked(tmp_path, account(provider.port, api="anthropic_messages", path=""))
        line, headers = request_of(provider)
    assert line == "GET /v1/models HTTP/1.1"
    assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "authorization" not in headers


async def test_gemini_is_asked_in_its_own_way_and_a_wrong_key_is_no_bad_request(
    tmp_path: Path,
) -> None:
    kind = "type.googleapis.com/google.rpc.ErrorInfo"
    error = {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}
    error["details"] = [{"@type": kind, "reason": "API_KEY_INVALID"}]
    wrong = response(400, json.dumps({"error": error}).encode())
    async with upstream(response(200, b'{"models":[{"name":"models/a"}]}'), wrong) as provider:
        good = await checked(tmp_path, account(provider.port, api="gemini", path=""))
        line, headers = request_of(provider)
        bad = await checked(tmp_path, account(provider.port, api="gemini", path="/v1beta"))
        assert provider.received[1].request_line == line
    assert line == "GET /v1beta/models HTTP/1.1"
    assert headers["x-goog-api-key"] == KEY
    assert "authorization" not in headers
    assert good.accounts[0].live is not None
    assert (good.ok, good.accounts[0].live.models) == (True, 1)
    assert not bad.ok
    assert "stanchion key set evals/lab" in "\n".join(report_lines(bad))


async def test_the_providers_words_are_shown_and_the_key_in_them_masked(tmp_path: Path) -> None:
    said = f"wrong key {KEY}\u001b[31m, sorry"
    body = json.dumps({"error": {"type": "authentication_error", "message": said}}).encode()
    async with upstream(response(401, body)) as provider:
        report = await checked(tmp_path, account(provider.port))
    text = "\n".join(report_lines(report))
    assert not report.ok
    assert f"401 authentication_error: wrong key {'*' * len(KEY)} [31m, sorry" in text
    assert "stanchion key set evals/lab" in text
    assert "CANARY" not in text + str(report)
    assert "\u001b" not in text


@pytest.mark.parametrize(
    ("answer", "ok", "words"),
    [
        (response(404, b"nope"), True, "not tried"),
        (response(200, b"<html>login</html>"), True, "no list of models"),
        (response(302, b"", headers=[("location", "http://127.0.0.1:1/")]), False, "redirect"),
        (response(500, b"\xff oops"), False, "500"),
        (sends(b"HTTP/1.1 200 OK\r\n"), False, "ended before"),
        (sends(b"\x00\x01 nothing\r\n\r\n"), False, "ended before"),
    ],
)
async def test_other_answers(tmp_path: Path, answer: Answer, ok: bool, words: str) -> None:
    async with upstream(answer) as provider:
        report = await checked(tmp_path, account(provider.port))
        assert len(provider.received) == 1
    assert report.ok is ok
    assert words in "\n".join(report_lines(report))
    live = report.accounts[0].live
    assert live is not None
    assert not live.key_proven


async def test_each_account_is_checked_for_itself(tmp_path: Path) -> None:
    async with upstream(LIST) as provider:
        text = (
            account(provider.port, name="a")
            + account(provider.port, name="b", credential="env:B_KEY")
            + account(provider.port, name="c", credential="none")
            + account(1, name="d")
            + account(provider.port, name="e", credential="file:absent")
            + account(provider.port, name="f", credential=KEY)
        )
        report = await checked(tmp_path, text, env={"B_KEY": KEY})
    found = {check.name: None if check.ok else check.problem for check in report.accounts}
    assert [found[f"evals/{name}"] for name in "abc"] == [None, None, None]
    problems = [problem.id for problem in found.values() if problem is not None]
    assert problems == ["provider_unreachable", "credential_missing", "credential_unknown"]
    assert report.accounts[0].mode == "0600"
    assert report.accounts[2].live is not None
    assert not report.accounts[2].live.key_proven  # nothing was proven: there is none
    assert "CANARY" not in str(report)


async def test_without_live_nobody_is_asked(tmp_path: Path) -> None:
    report = await checked(tmp_path, account(1), live=False)
    assert report.ok
    assert report.accounts[0].live is None


async def test_over_tls_and_a_proxy_the_certificate_is_shown(tmp_path: Path) -> None:
    make_certificate(tmp_path)
    async with (
        upstream(LIST, tls=server_context(tmp_path)) as provider,
        egress_proxy() as proxy,
    ):
        broker = f'ca_bundle = "cert.pem"\negress_proxy = "http://127.0.0.1:{proxy.port}"'
        report = await checked(tmp_path, account(provider.port, scheme="https"), broker=broker)
        untrusted = await checked(tmp_path, account(provider.port, scheme="https"))
    live = report.accounts[0].live
    assert live is not None
    der = ssl.PEM_cert_to_DER_cert((tmp_path / "cert.pem").read_text())
    assert live.certificate_sha256 == hashlib.sha256(der).hexdigest()
    assert proxy.heads
    problem = untrusted.accounts[0].problem
    assert problem is not None
    assert "certificate is not trusted" in problem.rule
    assert len(provider.received) == 1


async def test_a_proxy_that_refuses_is_named(tmp_path: Path) -> None:
    async with egress_proxy(b"HTTP/1.1 403 Forbidden\r\n\r\n") as proxy:
        broker = f'egress_proxy = "http://127.0.0.1:{proxy.port}"'
        report = await checked(tmp_path, account(9, scheme="https"), broker=broker)
    problem = report.accounts[0].problem
    assert problem is not None
    assert "egress proxy answered CONNECT with 403" in problem.rule
