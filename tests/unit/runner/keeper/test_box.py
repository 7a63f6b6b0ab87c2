"""When the host ends a sandbox itself; the rest of a box is tested with real ones."""

import msgspec
from tests.fakes.samples import sample

from stanchion.protocol.launch import Deadlines, Waits
from stanchion.runner.keeper.box import deadline_s
from stanchion.runner.keeper.order import Order


def test_the_hosts_deadline_is_past_everything_the_spec_allows() -> None:
    order = sample(Order)
    spec = msgspec.structs.replace(
        order.open_run.spec,
        deadlines=Deadlines(agent_s=600, verifier_s=120),
        waits=Waits(max_wait_s=1200),
    )
    request = msgspec.structs.replace(order.open_run, spec=spec)
    order = msgspec.structs.replace(order, open_run=request, deadline_slack_s=120)

    assert deadline_s(order) == 600 + 120 + 1200 + 120
    assert deadline_s(order, held_s=1200) == deadline_s(order)
    assert deadline_s(order, held_s=1500) == deadline_s(order) + 300
