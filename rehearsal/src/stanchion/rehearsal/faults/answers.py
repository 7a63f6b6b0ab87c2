"""What a fault changes in an answer before a dialect gives it a form.

Here are the faults that a model or its server commits in good form: a wrong ending, no usage, a
late start, a secret in the text. It must never touch bytes; those are for `replies`.
"""

import base64
from dataclasses import replace
from functools import singledispatch

from stanchion.rehearsal.faults import kinds
from stanchion.rehearsal.turns import Answer, Ending


@singledispatch
def alter(_fault: kinds.AnyFault, answer: Answer, _key: str) -> Answer:
    """The answer as the fault would have it said; most faults leave it alone."""
    return answer


@alter.register
def _slow_headers(fault: kinds.SlowHeadersFault, answer: Answer, _key: str) -> Answer:
    return replace(answer, hold_s=answer.hold_s + fault.wait_s)


@alter.register
def _missing_usage(_fault: kinds.MissingUsageFault, answer: Answer, _key: str) -> Answer:
    return replace(answer, usage=None)


@alter.register
def _length(fault: kinds.LengthFault, answer: Answer, _key: str) -> Answer:
    return replace(answer, finish="length", cut_call=fault.in_call)


@alter.register
def _unknown_finish(fault: kinds.UnknownFinishFault, answer: Answer, _key: str) -> Answer:
    return replace(answer, finish=fault.word)


@alter.register
def _no_finish(fault: kinds.NoFinishFault, answer: Answer, _key: str) -> Answer:
    return replace(answer, ending=Ending.MARKER if fault.done else Ending.NOTHING)


@alter.register
def _key_echo(fault: kinds.KeyEchoFault, answer: Answer, key: str) -> Answer:
    return replace(answer, echo=_spoken(fault, key)) if fault.where == "text" else answer


def echoed(fault: kinds.KeyEchoFault, key: str) -> str:
    """The key in the form that the fault asks for."""
    return base64.b64encode(key.encode()).decode() if fault.form == "base64" else key


def _spoken(fault: kinds.KeyEchoFault, key: str) -> tuple[str, ...]:
    if fault.form == "deltas":
        middle = len(key) // 2
        return (" Your key is ", key[:middle], key[middle:])
    return (" Your key is ", echoed(fault, key))
