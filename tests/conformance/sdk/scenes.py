"""What the provider does, scene by scene: one rehearsal script that every dialect plays.

A scene is a turn; a conversation with so many assistant messages behind it gets that turn, so that
one provider process serves every test.
"""

from collections.abc import Mapping

WORDS = 'It is done: ünïcode ✓ 🦊, \\"quotes\\", a back\\\\slash and\\na second line.'
ARGUMENTS = '{command = "ls -l \\"a b\\"", deep = {list = [1, 2.5, true], text = "ä\\n🦊"}}'
CALL = f'[[turn.tool]]\nname = "bash"\narguments = {ARGUMENTS}\n'
SECOND_CALL = '[[turn.tool]]\nname = "look"\narguments = {}\n'

ANSWERS: Mapping[str, str] = {
    "text": f'text = "{WORDS}"',
    "thoughts": 'reasoning = "First I think about it, and then again."\ntext = "Thought."',
    "one call": CALL,
    "text and calls": 'reasoning = "Two of them."\ntext = "Both:"\n' + CALL + SECOND_CALL,
    "given usage": 'text = "Counted."\n'
    "usage = {prompt_tokens = 900, completion_tokens = 60, reasoning_tokens = 41}",
    "no usage": 'text = "Not counted."\nusage = false',
    "cut at the limit": 'text = "So far and no"\nfault = {kind = "length"}',
    "call cut at the limit": 'fault = {kind = "length", in_call = true}\n' + CALL,
    "unknown finish": 'text = "Odd."\nfault = {kind = "unknown_finish"}',
    "nothing said": 'finish = "stop"',
    "many events": f'reasoning = "{"think " * 120}"\ntext = "{"words and " * 150}"',
    "late start": 'text = "Late."\nfault = {kind = "slow_headers", wait_s = 0.05}',
    "pause within": 'text = "One two three four five six seven."\n'
    'fault = {kind = "stall", after = 2, stall_s = 0.05}',
    "signs of life": 'text = "Comments between the events."\n'
    'fault = {kind = "drip", after = 2, count = 3, interval_s = 0.01}',
    "slow events": 'text = "Each of the events in a packet of its own."\ngap_ms = 8',
}
"""Answers that are complete, in good form and bad."""

BROKEN: Mapping[str, str] = {
    "error at once": 'text = "x"\nfault = {kind = "error_event", message = "Broken in the 200."}',
    "error midway": 'text = "One two three four five six seven eight."\n'
    'fault = {kind = "error_event", after = 3, error_type = "overloaded_error"}',
    "cut between events": 'text = "One two three four five six."\n'
    'fault = {kind = "cut", after = 2}',
    "cut in an event": 'text = "One two three four five six."\n'
    'fault = {kind = "cut", after = 2, extra_bytes = 20}',
    "cut before an event": 'text = "One two three."\nfault = {kind = "cut"}',
    "a page": 'text = "x"\nfault = {kind = "garbage", what = "html"}',
    "no body": 'text = "x"\nfault = {kind = "garbage", what = "empty"}',
    "a proxy's line": 'text = "One two three four five."\n'
    'fault = {kind = "garbage", what = "line", after = 2}',
    "broken JSON": 'text = "One two three four five."\n'
    'fault = {kind = "garbage", what = "json", after = 2}',
    "no finish": 'text = "And"\nfault = {kind = "no_finish"}',
    "end without finish": 'text = "And"\nfault = {kind = "no_finish", done = true}',
}
"""A 200 that goes wrong."""


RESET = 'text = "One two three four five six."\nfault = {kind = "cut", after = 2, how = "rst"}'


def _status(number: int, fields: str = "") -> str:
    words = f"Rehearsed {number}, ä."
    return f'fault = {{kind = "status", status = {number}, message = "{words}"{fields}}}'


_RATE = (
    ', headers = {x-ratelimit-remaining-requests = "0", anthropic-ratelimit-requests-limit = "50",'
    ' x-should-retry = "true"}'
)

STATUSES: Mapping[str, str] = {
    "400": _status(400, ', error_code = "bad_value"'),
    "401": _status(401, ', error_code = "invalid_api_key"'),
    "402": _status(402),
    "403": _status(403),
    "404": _status(404, ', error_code = "model_not_found"'),
    "408": _status(408),
    "409": _status(409),
    "413": _status(413),
    "422": _status(422),
    "429": _status(429, ", retry_after = 7" + _RATE),
    "500": _status(500),
    "502": _status(502),
    "503": _status(503, ", retry_after = 3"),
    "504": _status(504),
    "529": _status(529, ', retry_after = 11, error_type = "overloaded_error"'),
}

PASSING: Mapping[str, str] = {
    "429 that passes": 'text = "Now."\n'
    'fault = {kind = "status", status = 429, retry_after = 1, times = 1}',
    "503 that passes": 'text = "Now."\n'
    'fault = {kind = "status", status = 503, retry_after = 1, times = 1}',
}
"""Failures that whoever asks again gets past."""

WAITS: Mapping[str, str] = {
    "no head": 'text = "Never."\nfault = {kind = "slow_headers", wait_s = 3600}',
    "silence midway": 'text = "One two three four five six seven."\n'
    'fault = {kind = "stall", after = 3}',
}
"""A provider that keeps its caller waiting for ever."""

SCENES: Mapping[str, str] = {
    **ANSWERS,
    **BROKEN,
    "reset": RESET,
    **STATUSES,
    **PASSING,
    **WAITS,
}
SCRIPT = "version = 1\n[defaults]\ngap_ms = 0\n" + "".join(
    f"\n[[turn]]  # {name}\n{turn}\n" for name, turn in SCENES.items()
)


def turn_of(scene: str) -> int:
    """Assistant messages behind the conversation that gets this scene."""
    return list(SCENES).index(scene)
