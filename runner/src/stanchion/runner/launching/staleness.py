"""Warns where a running broker was started with another key or configuration than there is now.

Looks only: the broker goes on with what it has, and says so itself in every receipt. No key leaves
this process: the broker compares a proof under a fresh salt.
"""

import hashlib
import secrets
from collections.abc import Mapping
from pathlib import Path

from stanchion.broker.client import BrokerClient
from stanchion.protocol.admin import Health
from stanchion.protocol.credentials import EnvProof, proof_of


async def stale_words(
    broker: BrokerClient, health: Health, environment: Mapping[str, str]
) -> list[str]:
    """One sentence for each thing that changed since the broker started."""
    words = []
    if config_changed(health):
        words.append(
            f"{health.config_path} changed after the broker (pid {health.pid}) read it; "
            "to use it: stanchion broker stop"
        )
    words += [
        f"the broker (pid {health.pid}) holds another key than ${name} has here; "
        "to use yours: stanchion broker stop"
        for name in await _differing(broker, health, environment)
    ]
    return words


def config_changed(health: Health) -> bool:
    """Whether the broker's file is not what it read; one that is gone counts."""
    if health.config_path is None:
        return False
    try:
        content = Path(health.config_path).read_bytes()
    except OSError:
        return True
    return hashlib.sha256(content).hexdigest() != health.config_sha256


async def _differing(
    broker: BrokerClient, health: Health, environment: Mapping[str, str]
) -> tuple[str, ...]:
    proofs = [
        EnvProof(name=name, salt=(salt := secrets.token_hex(16)), proof=proof_of(salt, key))
        for name in health.env_names
        if (key := environment.get(name, ""))
    ]
    return await broker.differing_env(proofs) if proofs else ()
