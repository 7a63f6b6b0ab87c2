"""Launch orders as a runner would resolve them."""

import msgspec

from stanchion.protocol.admin import OpenRun, Rehearsal
from stanchion.protocol.codec import PROTOCOL_VERSION
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import (
    Deadlines,
    Effort,
    HarnessRef,
    ImageRef,
    LaunchSpec,
    Limit,
    Limits,
    LimitSource,
    ModelRef,
    TaskRef,
)

KEY = "sk-CANARY-0123456789abcdefghij"
MODEL = "fx-coder-1"
LIMIT = 128_000


def spec(**changes: object) -> LaunchSpec:
    """A rehearsal launch with a limit of 128,000 and effort max."""
    base = LaunchSpec(
        protocol=PROTOCOL_VERSION,
        profile="rehearsal",
        task=TaskRef(name="hello", sha256="a" * 64, instruction_sha256="b" * 64),
        image=ImageRef(),
        harness=HarnessRef(name="opencode", version="1.18.33", sha256="c" * 64),
        model=ModelRef(account="rehearsal", id=MODEL),
        dialect=Dialect.OPENAI_CHAT,
        limits=Limits(output_tokens=Limit(value=LIMIT, source=LimitSource.DEFAULT)),
        effort=Effort(word="max"),
        deadlines=Deadlines(agent_s=600, verifier_s=60),
    )
    return msgspec.structs.replace(base, **changes)


def order(
    port: int | None = 9,
    *,
    run: str = "7f3a90c41b22",
    attempt: int = 1,
    key: str = KEY,
    **changes: object,
) -> OpenRun:
    """An order for the built-in profile with its provider on this port; None: for another one."""
    return OpenRun(
        protocol=PROTOCOL_VERSION,
        run=run,
        attempt=attempt,
        spec=spec(**changes),
        rehearsal=None if port is None else Rehearsal(port=port, key=key),
    )
