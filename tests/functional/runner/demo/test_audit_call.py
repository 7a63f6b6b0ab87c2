"""The demo believes the audit command."""

from pathlib import Path

import pytest

from stanchion.broker.client import StatePaths
from stanchion.runner.demo.audit_call import audit_bundle
from stanchion.runner.keeper.order import Order
from stanchion.runner.launching.brokers import ensure_broker
from stanchion.runner.launching.keepers import Keeper

pytestmark = pytest.mark.timeout(90)


async def test_receipts_verify_until_a_byte_is_changed(order: Order, paths: StatePaths) -> None:
    await ensure_broker(paths, None, print)
    keeper = await Keeper.start(order)
    _ = [report async for report in keeper.reports()]
    bundle = Path(order.result_folder) / "receipts.bundle"
    before = audit_bundle(str(bundle), paths.root)
    _swap_a_letter(bundle)
    after = audit_bundle(str(bundle), paths.root)

    assert before.verified
    assert before.records is not None
    assert before.records > 2
    assert before.words.startswith("verified (key ")
    assert not after.verified
    assert after.words.startswith("tampered")


def _swap_a_letter(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data.replace(b"hello", b"hallo", 1))


def test_no_receipts_prove_nothing(tmp_path: Path) -> None:
    assert not audit_bundle(None, tmp_path).verified
    missing = audit_bundle(str(tmp_path / "missing"), tmp_path)
    assert (missing.verified, missing.records) == (False, None)
    assert "not audited" in missing.words
