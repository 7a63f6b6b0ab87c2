"""A launch that the built-in rehearsal profile accepts."""

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

REHEARSAL_SPEC = LaunchSpec(
    protocol=PROTOCOL_VERSION,
    profile="rehearsal",
    task=TaskRef(name="hello", sha256="a" * 64, instruction_sha256="b" * 64),
    image=ImageRef(base="debian", verified="c" * 64),
    harness=HarnessRef(name="opencode", version="1.18.33", sha256="d" * 64),
    model=ModelRef(account="rehearsal", id="scripted-1"),
    dialect=Dialect.OPENAI_CHAT,
    limits=Limits(output_tokens=Limit(value=8_000, source=LimitSource.LAUNCH)),
    effort=Effort(word="max"),
    deadlines=Deadlines(agent_s=60, verifier_s=60),
)
