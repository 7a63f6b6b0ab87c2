"""Receipts as an honest broker writes them, and as somebody else with a key of his own could."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from stanchion.broker.receipts.chain import Chain, build_header
from stanchion.protocol.codec import digest, encode
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Answered, Asked, ErrorClass, ExchangeResult, Finish
from stanchion.protocol.launch import (
    AccountRef,
    Deadlines,
    Effort,
    FrozenLaunch,
    HarnessRef,
    ImageRef,
    LaunchSpec,
    Limit,
    Limits,
    LimitSource,
    ModelRef,
    SideRequest,
    TaskRef,
)
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart, RunOpen, RunStarted

RUN = "7f3a90c41b22"
ATTEMPT = f"{RUN}.1"
SHA = "ab" * 32


class TestKey:
    """A signer whose key is the same in every run of the tests."""

    __test__ = False

    def __init__(self, seed: int = 1) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
        self.public_key = self._private.public_key().public_bytes_raw().hex()

    def sign(self, message: bytes) -> str:
        return self._private.sign(message).hex()


KEY = TestKey(1)
OTHER_KEY = TestKey(2)


def frozen_launch(
    *, side_requests: tuple[SideRequest, ...] = (), effort: Effort | None = None
) -> FrozenLaunch:
    spec = LaunchSpec(
        protocol=1,
        profile="evals",
        task=TaskRef(name="fix-bug", sha256=SHA, instruction_sha256=SHA),
        image=ImageRef(),
        harness=HarnessRef(name="opencode", version="1.18.33", sha256=SHA),
        model=ModelRef(account="vllm", id="Qwen/Qwen3"),
        dialect=Dialect.OPENAI_CHAT,
        limits=Limits(output_tokens=Limit(value=128_000, source=LimitSource.DEFAULT)),
        effort=effort or Effort(word="max"),
        deadlines=Deadlines(agent_s=600, verifier_s=60),
        side_requests=side_requests,
    )
    account = AccountRef(
        name="vllm",
        dialect=Dialect.OPENAI_CHAT,
        base_url="http://127.0.0.1:8000/v1",
        tls=False,
        credential="none",
        fingerprint=None,
    )
    return FrozenLaunch(spec=spec, account=account)


def run_open(launch: FrozenLaunch | None = None) -> dict[str, Any]:
    launch = launch or frozen_launch()
    return {
        "nonce": "00ff",
        "launch": launch,
        "launch_sha256": digest(launch),
        "broker_version": "0.1.0",
        "rehearsal_port": None,
    }


def asked(
    *, model: str = "Qwen/Qwen3", limit: int | None = 128_000, effort: str | None = "max"
) -> Asked:
    return Asked(
        model=model,
        output_limit=limit,
        output_limit_field="max_tokens",
        effort=effort,
        effort_field="reasoning_effort",
        stream=True,
        fields=("max_tokens", "messages", "model", "reasoning_effort", "stream"),
        body_sha256=SHA,
        body_bytes=2048,
    )


def exchange_start(
    number: int, *, sent: Asked | None = None, side: str | None = None
) -> dict[str, Any]:
    return {
        "exchange": number,
        "asked": asked(),
        "sent": sent or asked(),
        "corrections": (),
        "route": "/v1/chat/completions",
        "session": None,
        "side": side,
    }


def exchange_try(number: int, sending: int) -> dict[str, Any]:
    return {
        "exchange": number,
        "number": sending,
        "status": 429,
        "error_class": ErrorClass.RATE_LIMITED,
        "retry_after_ms": 2000,
        "held_ms": 2000 * sending,
    }


def exchange_end(
    number: int, *, tries: int = 1, held_ms: int = 0, gave_up: str | None = None
) -> dict[str, Any]:
    answered = Answered(
        result=ExchangeResult.COMPLETED, status=200, finish=Finish.STOP, text_present=True
    )
    return {
        "exchange": number,
        "answered": answered,
        "tries": tries,
        "held_ms": held_ms,
        "secret_scrubbed": False,
        "gave_up": gave_up,
    }


def run_started(isolation: str = "M2") -> dict[str, Any]:
    return {
        "asserted_by": "sandbox",
        "isolation": isolation,
        "checks": {"proc": True},
        "written_model": "Qwen/Qwen3",
        "written_output_limit": 128_000,
        "written_effort": "max",
    }


def ending(reason: str = "completed", *, score: str | None = "1.0") -> dict[str, Any]:
    return {
        "reason": reason,
        "detail": "3 completed responses, the session ended well",
        "flags": (),
        "grade": "graded",
        "score": score,
        "reward_sha256": SHA,
    }


class Writing:
    """A bundle in the making, by way of the broker's own chain."""

    def __init__(self, key: TestKey = KEY) -> None:
        self.key = key
        self.lines = [encode(build_header(run=RUN, attempt=1, holds_bodies=False, signer=key))]
        self.chain = Chain(self.lines[0])

    def add(self, kind: type[msgspec.Struct], **fields: object) -> "Writing":
        _, line = self.chain.append(kind, at_ms=1_700_000_000_000, **fields)
        self.lines.append(line)
        return self

    def close(self, **fields: object) -> bytes:
        fields.setdefault("exchanges", self.chain.exchanges)
        _, line = self.chain.close(signer=self.key, at_ms=1_700_000_000_001, **fields)
        self.lines.append(line)
        return self.bundle()

    def bundle(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)


def honest(
    *, exchanges: int = 3, key: TestKey = KEY, sent: Callable[[int], Asked] = lambda _: asked()
) -> Writing:
    """A run with these requests, up to its close."""
    writing = Writing(key).add(RunOpen, **run_open()).add(RunStarted, **run_started())
    for number in range(1, exchanges + 1):
        writing.add(ExchangeStart, **exchange_start(number, sent=sent(number)))
        writing.add(ExchangeEnd, **exchange_end(number))
    return writing


def closed(*, exchanges: int = 3, key: TestKey = KEY) -> bytes:
    """A whole honest bundle."""
    return honest(exchanges=exchanges, key=key).close(**ending())


def parsed(bundle: bytes) -> list[dict[str, Any]]:
    """The lines of a bundle as plain objects."""
    return [json.loads(line) for line in bundle.splitlines()]


def forged(lines: list[dict[str, Any]], key: TestKey = KEY) -> bytes:
    """These lines with `seq`, `prev` and signatures made right, whatever else they say."""
    out: list[bytes] = []
    for at, line in enumerate(lines):
        told = dict(line)
        if at:
            told |= {"seq": at, "prev": hashlib.sha256(out[-1]).hexdigest()}
        else:
            told["public_key"] = key.public_key
        if "signature" in told:
            told["signature"] = key.sign(_canonical(told | {"signature": ""}))
        out.append(_canonical(told))
    return b"".join(line + b"\n" for line in out)


def _canonical(told: dict[str, Any]) -> bytes:
    return msgspec.json.encode(told, order="deterministic")
