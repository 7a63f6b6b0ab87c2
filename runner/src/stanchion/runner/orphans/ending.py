"""Gives an attempt without a keeper its named ending: at the broker, and beside its results.

The broker decides the outcome, from what sandbox and wire said and from the fact that no launcher
saw the end. Its stream is the best record there is, so the result folder is written again from it.
"""

import asyncio
import logging
from pathlib import Path

from stanchion.broker.client import BrokerClient
from stanchion.protocol.admin import HostReport, RunView
from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.refusal import RefusedError
from stanchion.protocol.result import AttemptResult
from stanchion.runner.host.process_identity import own_identity
from stanchion.runner.keeper.follow import Follower
from stanchion.runner.keeper.notes import Note, read_attempt_file
from stanchion.runner.keeper.recorder import Moments, Recorder
from stanchion.runner.keeper.result_document import Kept, broker_lost, document
from stanchion.runner.results.job_folder import RESULT, write_json

AWAY_S = 30.0
REPLAYED = ("transcript.jsonl", "harness.log", "tasks.json", "verifier/output.txt")
"""Written again, whole, from the broker's stream."""
log = logging.getLogger(__name__)


def lost_why(note: Note) -> str:
    """What became of the keeper, as far as it can be told."""
    if note.identity.partition(" ")[0] != own_identity().partition(" ")[0]:
        return "the host was restarted while it ran"
    return f"its keeper (pid {note.pid}) was ended from outside while it ran"


async def end(broker: BrokerClient, note: Note) -> str:
    """How it ended, in one word; RefusedError where the broker refuses even that."""
    facts = HostFacts(
        lost_why=lost_why(note), oom_kills_why="the keeper did not live to read the counter"
    )
    folder = Path(note.result_folder)
    try:
        view = await broker.host_facts(note.attempt, HostReport(host=facts))
    except RefusedError as refused:
        if refused.refusal.id != "run_unknown":
            raise
        return _without_broker(folder, facts, "the broker does not know it any more")
    if lacks_result(folder):
        write_json(folder / RESULT, await _recorded(broker, note, view, facts, folder))
    return str(view.outcome.reason) if view.outcome else "unknown"


def lacks_result(folder: Path) -> bool:
    """Whether there is a place for a result and none in it."""
    return folder.is_dir() and not (folder / RESULT).is_file()


async def _recorded(
    broker: BrokerClient, note: Note, view: RunView, facts: HostFacts, folder: Path
) -> AttemptResult:
    for name in REPLAYED:
        (folder / name).unlink(missing_ok=True)
    recorder = Recorder(folder)
    follower = Follower(broker, note.attempt, recorder.take, away_limit_s=AWAY_S)
    try:
        await asyncio.wait_for(follower.follow(), AWAY_S)
    except TimeoutError:
        log.warning("the event stream of %s did not end in %.0f s", note.attempt, AWAY_S)
    except RefusedError:
        recorder.moments = Moments()  # its events are not kept any more
    bundle = folder / "receipts.bundle"
    bundle.write_bytes(await broker.bundle(note.attempt))
    run, _, number = note.attempt.partition(".")
    kept = Kept(
        run=run,
        attempt=int(number),
        spec=view.launch.spec,
        host=facts,
        moments=recorder.moments,
        bundle=str(bundle),
    )
    return document(kept, view)


def _without_broker(folder: Path, facts: HostFacts, why: str) -> str:
    """The result where nobody can say what was on the wire."""
    terms = read_attempt_file(folder) if lacks_result(folder) else None
    if terms is None:
        return "unknown"
    kept = Kept(
        run=terms.run,
        attempt=terms.attempt,
        spec=terms.launch.spec,
        host=facts,
        moments=Moments(),
        bundle=None,
    )
    result = broker_lost(kept, f"{facts.lost_why}; {why}")
    write_json(folder / RESULT, result)
    return str(result.outcome.reason)
