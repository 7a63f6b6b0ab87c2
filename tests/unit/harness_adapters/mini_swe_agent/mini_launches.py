"""A plain launch, to vary in tests."""

from stanchion.harness_adapters.base import Settings
from stanchion.protocol.dialects import Dialect

HOME = "/home/agent"
OWN = f"{HOME}/.stanchion-mini"
PLAIN = Settings(
    model="maker/future-9",
    base_url="http://127.0.0.1:4711",
    dialect=Dialect.OPENAI_CHAT,
    output_limit=128_000,
    context=400_000,
    effort="max",
    instruction='Say "hello"\nand stop.',
    home=HOME,
    workdir="/work",
    package_dir="/opt/stanchion-harness/mini_swe_agent/2.4.6",
    env={"PATH": "/image/bin", "TASK": "1"},
)
