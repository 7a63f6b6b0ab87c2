"""A plain launch of mini-swe-agent, to vary in tests."""

from stanchion.protocol.dialects import Dialect
from unit.harness_adapters.plain_launch import HOME, plain

OWN = f"{HOME}/.stanchion-mini"
PLAIN = plain(
    Dialect.OPENAI_CHAT,
    model="maker/future-9",
    context=400_000,
    package_dir="/opt/stanchion-harness/mini_swe_agent/2.4.6",
)
