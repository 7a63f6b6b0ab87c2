"""An attempt with ids of its own: what other tests leave has other names."""

import secrets

import msgspec
import pytest

from stanchion.runner.keeper.order import Order


@pytest.fixture
def fresh(order: Order) -> Order:
    """The order with new ids."""
    request = msgspec.structs.replace(order.open_run, run=secrets.token_hex(6))
    return msgspec.structs.replace(order, open_run=request, sandbox_id=secrets.token_hex(16))
