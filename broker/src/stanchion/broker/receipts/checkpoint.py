"""The checkpoint: one signed line over the heads of every chain that a broker holds. Pure.

Whoever keeps one elsewhere can show later that a chain of that time is gone or was rewritten. It
says nothing about what a chain holds.
"""

import hashlib
from collections.abc import Iterable

import msgspec

from stanchion.broker.receipts.chain import line_digest
from stanchion.broker.receipts.ed25519 import Signer, holds
from stanchion.protocol.codec import encode
from stanchion.protocol.overview import CHECKPOINT_FORMAT, CHECKPOINT_VERSION, Checkpoint


def build_checkpoint(
    heads: Iterable[tuple[str, int, bytes]], *, at_ms: int, signer: Signer
) -> Checkpoint:
    """From each chain's name, its number of records and its last line."""
    lines = sorted((name, count, line_digest(line)) for name, count, line in heads)
    text = "".join(f"{name} {count} {head}\n" for name, count, head in lines)
    draft = Checkpoint(
        format=CHECKPOINT_FORMAT,
        version=CHECKPOINT_VERSION,
        public_key=signer.public_key,
        at_ms=at_ms,
        runs=len(lines),
        records=sum(count for _, count, _ in lines),
        heads_sha256=hashlib.sha256(text.encode()).hexdigest(),
        signature="",
    )
    return msgspec.structs.replace(draft, signature=signer.sign(encode(draft)))


def checkpoint_holds(checkpoint: Checkpoint) -> bool:
    """Whether its signature is that of the key in it."""
    unsigned = msgspec.structs.replace(checkpoint, signature="")
    return holds(
        public_key=checkpoint.public_key,
        message=encode(unsigned),
        signature=checkpoint.signature,
    )
