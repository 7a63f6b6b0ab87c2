"""Every message of every version decodes for ever: golden files, never edited.

`NAME.json` is a message as it first was. One that has grown since gets another file, `NAME.2.json`
and so on, which holds what came: `python tests/conformance/protocol/test_golden_messages.py` writes
the files of new messages, and with `NAME...` the next one of these.
"""

import json
import sys
import types
import typing
from pathlib import Path

import msgspec
import pytest

from stanchion.protocol import (
    admin,
    codec,
    control,
    credentials,
    events,
    job,
    overview,
    receipt,
    result,
)

sys.path.insert(0, str(Path(__file__).parents[2]))
from fakes.samples import sample

GOLDEN = Path(__file__).parent / "v1"


def _members(union: object) -> list[type[msgspec.Struct]]:
    assert isinstance(union, types.UnionType)
    return list(typing.get_args(union))


MESSAGES: dict[str, type[msgspec.Struct]] = {
    kind.__name__: kind
    for kind in [
        *_members(events.Event),
        *_members(control.FromSupervisor),
        *_members(control.FromBroker),
        *_members(receipt.Record),
        receipt.Header,
        *_members(job.JobRecord),
        job.JobHeader,
        job.OpenJob,
        job.CloseJob,
        events.StreamEntry,
        admin.OpenRun,
        admin.RunOpenedReply,
        admin.EnrolTicket,
        admin.HostReport,
        admin.RunView,
        admin.EventsPage,
        admin.ProfileView,
        admin.Health,
        admin.ErrorReply,
        credentials.CompareEnv,
        credentials.ComparedEnv,
        result.AttemptResult,
        result.OpenAttempt,
        overview.VitalsPage,
        overview.Checkpoint,
    ]
}


def contains(new: object, old: object) -> bool:
    """Whether everything in `old` is still there in `new`; more may have come."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(
            key in new and contains(new[key], value) for key, value in old.items()
        )
    if isinstance(old, list):
        return (
            isinstance(new, list)
            and len(new) == len(old)
            and all(contains(a, b) for a, b in zip(new, old, strict=True))
        )
    return new == old


def message_of(path: Path) -> str:
    return path.name.partition(".")[0]


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_a_golden_message_still_decodes_to_all_it_said(path: Path) -> None:
    data = path.read_bytes()
    message = codec.decode(data, MESSAGES[message_of(path)])
    assert contains(json.loads(codec.encode(message)), json.loads(data))


def test_every_golden_file_belongs_to_a_message_and_every_message_has_one() -> None:
    assert {message_of(path) for path in GOLDEN.glob("*.json")} == set(MESSAGES)
    assert all((GOLDEN / f"{name}.json").exists() for name in MESSAGES)


def write(name: str, *, grown: bool) -> None:
    number = len(list(GOLDEN.glob(f"{name}.*json")))
    if number == 0 or grown:
        path = GOLDEN / (f"{name}.json" if number == 0 else f"{name}.{number + 1}.json")
        path.write_bytes(codec.encode_line(sample(MESSAGES[name])))


if __name__ == "__main__":
    for every in MESSAGES:
        write(every, grown=every in sys.argv[1:])
