"""A plain launch, to vary in tests."""

from stanchion.harness_adapters.base import Settings
from stanchion.protocol.dialects import Dialect

HOME = "/home/agent"
PLAIN = Settings(
    model="future-9",
    base_url="http://127.0.0.1:4711",
    dialect=Dialect.OPENAI_RESPONSES,
    output_limit=128_000,
    context=None,
    effort="max",
    instruction='Say "hello"\nand stop.',
    home=HOME,
    workdir="/work",
    package_dir="/opt/harness",
    env={"PATH": "/image/bin", "TASK": "1"},
)
