"""A plain launch, to vary in tests, and what an adapter reads from what it planned for one."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stanchion.harness_adapters.base import Adapter, Settings, Written
from stanchion.protocol.dialects import Dialect

HOME = "/home/agent"


def plain(dialect: Dialect, **changed: Any) -> Settings:
    """One over this API."""
    settings = Settings(
        model="future-9",
        base_url="http://127.0.0.1:4711",
        dialect=dialect,
        output_limit=128_000,
        context=None,
        effort="max",
        instruction='Say "hello"\nand stop.',
        home=HOME,
        workdir="/work",
        package_dir="/opt/harness",
        env={"PATH": "/image/bin", "TASK": "1"},
    )
    return replace(settings, **changed)


def read_back(
    adapter: Adapter, settings: Settings, path: str, change: Callable[[dict[str, Any]], object]
) -> Written:
    """From its own files, after this change of what the JSON file says."""
    plan = adapter.plan(settings)
    written = {file.path: (file.text or "").encode() for file in plan.files}
    table = json.loads(written[path])
    change(table)
    return adapter.read_back(plan.env, {**written, path: json.dumps(table).encode()})
