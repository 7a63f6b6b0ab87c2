"""The supervisor's whole story against a broker that is played, at a quick pace."""

from typing import Any

from fakes.attempt import Attempt
from fakes.fake_broker import FakeBroker
from fakes.scripted_harness import ScriptedHarness
from stanchion.protocol.events import Claimed
from stanchion.protocol.evidence import Claim
from stanchion.supervisor.control import Patience
from stanchion.supervisor.run import Story, Timing
from stanchion.supervisor.watch import Rhythm

QUICK = Timing(
    rhythm=Rhythm(tick_s=0.05, vitals_s=0.1, term_s=0.5, pipes_s=1),
    patience=Patience(
        answer_s=2, enrol_s=3, away_s=0.5, first_backoff_s=0.02, longest_backoff_s=0.1
    ),
    flush_s=5,
)
WORKS = """
import sys
save(text=sys.stdin.read())
ask()
open(os.environ["ANSWER"], "w").write("forty-two")
save(step="stop"); save(todo="rest"); save(end="good")
print("words on stderr", file=sys.stderr)
"""


def told_by(broker: FakeBroker) -> Claim:
    (claimed,) = broker.of(Claimed)
    return claimed.claim


async def play(attempt: Attempt, script: str, timing: Timing = QUICK, **adapter: Any) -> bool:
    harness = ScriptedHarness(script, **adapter)
    return await Story(find_adapter=lambda _: harness, paths=attempt.paths, timing=timing).run()
