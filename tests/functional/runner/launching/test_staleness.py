"""A real broker, started with one key, and a shell that has another."""

import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from functional.broker.live import live_broker
from stanchion.runner.launching.staleness import config_changed, stale_words

KEY = "sk-CANARY-0123456789"
CONFIG = """
version = 1
[profiles.evals.accounts.lab]
api = "openai_chat"
base_url = "http://127.0.0.1:1/v1"
credential = "env:LAB_KEY"
"""


@pytest.fixture
def root() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        yield Path(folder)


async def test_a_changed_key_and_a_changed_file_are_each_one_sentence(root: Path) -> None:
    file = root / "stanchion.toml"
    file.write_text(CONFIG)
    with live_broker(root, "--config", str(file), env={"LAB_KEY": KEY}) as running:
        async with running.client() as broker:
            health = await broker.health()
            assert health.env_names == ("LAB_KEY",)
            assert await stale_words(broker, health, {"LAB_KEY": KEY}) == []
            assert await stale_words(broker, health, {}) == []
            (key_words,) = await stale_words(broker, health, {"LAB_KEY": "sk-CANARY-new"})
            file.write_text(CONFIG + "# changed\n")
            (file_words,) = await stale_words(broker, health, {})
    assert "$LAB_KEY" in key_words
    assert "stanchion broker stop" in key_words
    assert str(file) in file_words
    assert "CANARY" not in key_words + file_words
    file.write_text(CONFIG)
    assert not config_changed(health)
    assert health.config_sha256 == hashlib.sha256(CONFIG.encode()).hexdigest()
    file.unlink()
    assert config_changed(health)
    assert not config_changed(msgspec.structs.replace(health, config_path=None))
