"""A description of a small program, and a launch of it, to vary in tests."""

from stanchion.harness_adapters.base import Settings
from stanchion.protocol.dialects import Dialect

PLAIN = """
name = "tiny"
version = "1"
dialects = ["openai_chat", "anthropic_messages"]
program = "program"
header_wait_s = 600
argv = ["{{program}}/run", "--model", "{{model}}", ["--effort", "{{effort}}"], "{{workdir}}"]
stdin = "Do this:\\n{{instruction}}"

[env]
BASE_URL = "{{base_url}}/v1"
KEY = "{{key}}"
WINDOW = "{{context}}"

[files]
"{{home}}/.tiny/config.json" = '{"limit": {{output_limit}}, "say": {{instruction_json}}}'
"""
LAUNCH = Settings(
    model="maker/future-9",
    base_url="http://127.0.0.1:4711",
    dialect=Dialect.OPENAI_CHAT,
    output_limit=128_000,
    context=400_000,
    effort="max",
    instruction='Say "hello"\nand stop.',
    home="/home/agent",
    workdir="/work",
    package_dir="/opt/stanchion-harness/command/tiny-1",
    env={"TASK": "1", "PATH": "/image/bin"},
)
