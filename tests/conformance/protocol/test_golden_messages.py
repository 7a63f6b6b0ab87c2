"""Every message of every version decodes for ever: one golden file each, never edited.

`python tests/conformance/protocol/test_golden_messages.py` writes the files of new messages.
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


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_a_golden_message_still_decodes_to_all_it_said(name: str) -> None:
    data = (GOLDEN / f"{name}.json").read_bytes()
    message = codec.decode(data, MESSAGES[name])
    assert contains(json.loads(codec.encode(message)), json.loads(data))


def test_every_golden_file_belongs_to_a_message() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(MESSAGES)


if __name__ == "__main__":
    for name, kind in MESSAGES.items():
        path = GOLDEN / f"{name}.json"
        if not path.exists():
            path.write_bytes(codec.encode_line(sample(kind)))
