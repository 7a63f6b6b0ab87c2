from pathlib import Path

import pytest

from stanchion.rehearsal.faults.kinds import KINDS, RedirectFault, StatusFault
from stanchion.rehearsal.script import (
    BUILT_IN,
    Defaults,
    Script,
    ScriptError,
    ToolCall,
    Turn,
    Usage,
    load_script,
    parse_script,
)

FULL = """
version = 1
[defaults]
gap_ms = 7

[[turn]]
reasoning = "look"
text = "looking"
finish = "length"
usage = {prompt_tokens = 9, completion_tokens = 4, reasoning_tokens = 2}
gap_ms = 0
hold_s = 2
[[turn.tool]]
name = "bash"
arguments = {command = "ls"}
[[turn.tool]]
name = "read"

[[turn]]
reasoning = "wait"
pause = "forever"
usage = false

[[turn]]
fault = {kind = "redirect", location = "/elsewhere"}

[[turn]]
text = "now"
[turn.fault]
kind = "status"
status = 429
times = 2
retry_after = "Wed, 21 Oct 2015 07:28:00 GMT"
headers = {x-should-retry = "true"}
"""


def test_every_field_of_a_script_arrives() -> None:
    assert parse_script(FULL, source="x") == Script(
        version=1,
        defaults=Defaults(gap_ms=7),
        turn=(
            Turn(
                reasoning="look",
                text="looking",
                tool=(
                    ToolCall(name="bash", arguments={"command": "ls"}),
                    ToolCall(name="read"),
                ),
                finish="length",
                usage=Usage(prompt_tokens=9, completion_tokens=4, reasoning_tokens=2),
                gap_ms=0,
                hold_s=2.0,
            ),
            Turn(reasoning="wait", pause="forever", usage=False),
            Turn(fault=RedirectFault(location="/elsewhere")),
            Turn(
                text="now",
                fault=StatusFault(
                    status=429,
                    times=2,
                    retry_after="Wed, 21 Oct 2015 07:28:00 GMT",
                    headers={"x-should-retry": "true"},
                ),
            ),
        ),
    )


def test_the_built_in_script_reasons_and_speaks() -> None:
    (turn,) = BUILT_IN.turn
    assert turn.reasoning
    assert turn.text
    assert not turn.tool


TURN = "version = 1\n[[turn]]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x: version is missing but required; write version = 1 as the first line"),
        (
            "version = 2",
            (
                "x: version is 2, but the rule is: Invalid enum value 2; "
                "write version = 1 as the first line"
            ),
        ),
        (
            "version = 1\nturn = []",
            (
                "x: turn is [], but the rule is: Expected `array` of length >= 1; "
                "write at least one [[turn]] table"
            ),
        ),
        (
            "version = 1\nspeed = 3\n[[turn]]\ntext = 'a'",
            "x: speed is not a field of a script; the fields here are version, defaults, turn",
        ),
        (
            "version = 1\n[[turn]]\ntext = 'a'\n[[turn]]\ntol = 1",
            (
                "x: turn[1].tol is not a field of a script; the fields here are "
                "reasoning, text, tool, finish, usage, model, gap_ms, hold_s, pause, fault"
            ),
        ),
        (
            TURN + "gap_ms = -1",
            (
                "x: turn[0].gap_ms is -1, but the rule is: Expected `int` >= 0; "
                "write whole milliseconds from 0 to 60000, such as gap_ms = 5"
            ),
        ),
        (
            TURN + "pause = 'long'",
            (
                "x: turn[0].pause is 'long', but the rule is: Invalid enum value 'long'; "
                'write pause = "forever" or leave it out'
            ),
        ),
        (
            TURN + "[[turn.tool]]\nnam = 'bash'",
            (
                "x: turn[0].tool[0].nam is not a field of a script; "
                "the fields here are name, arguments, only_tool"
            ),
        ),
        (
            TURN + "[[turn.tool]]\narguments = {}",
            (
                "x: turn[0].tool[0].name is missing but required; "
                'write the tool\'s name as the harness offers it, such as name = "bash"'
            ),
        ),
        (
            TURN + "usage = {prompt_tokens = 1, completion_tokens = -1}",
            (
                "x: turn[0].usage.completion_tokens is -1, but the rule is: Expected `int` >= 0; "
                "correct the field or leave it out"
            ),
        ),
        (
            TURN + "fault = {kind = 'boom'}",
            (
                "x: turn[0].fault.kind is 'boom', but the rule is: Invalid value 'boom'; "
                f"write one of {', '.join(KINDS)}"
            ),
        ),
        (
            TURN + "fault = {status = 429}",
            (f"x: turn[0].fault.kind is missing but required; write one of {', '.join(KINDS)}"),
        ),
        (
            TURN + "fault = {kind = 'slow_headers', wait_s = 1, after = 2}",
            (
                "x: turn[0].fault.after is not a field of a script; "
                "the fields here are kind, times, wait_s"
            ),
        ),
        (
            TURN + "fault = {kind = 'status', status = 200}",
            (
                "x: turn[0].fault.status is 200, but the rule is: Expected `int` >= 400; "
                "write a number that the kind allows, such as 429 for status or 307 for redirect"
            ),
        ),
    ],
)
def test_a_wrong_script_is_refused_with_field_value_rule_and_remedy(
    text: str, message: str
) -> None:
    with pytest.raises(ScriptError) as refused:
        parse_script(text, source="x")
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("turn", "part"),
    [
        ("usage = true", "x: turn[0].usage is true, which names no counts"),
        ("pause = 'forever'\ntext = 'a'", 'x: turn[0].pause is "forever", so its text'),
        ("pause = 'forever'\n[[turn.tool]]\nname = 'a'", 'x: turn[0].pause is "forever"'),
        (
            "pause = 'forever'\nfault = {kind = 'length'}",
            'x: turn[0].fault stands beside pause = "forever"',
        ),
        (
            "text = 'a'\nfault = {kind = 'status', status = 400, headers = {Connection = 'x'}}",
            "x: turn[0].fault.headers has 'Connection', which the body itself decides",
        ),
        (
            "text = 'a'\nfault = {kind = 'length', in_call = true}",
            "x: turn[0].fault.in_call is true, but the turn calls no tool",
        ),
        (
            "fault = {kind = 'status', status = 400, times = 1}",
            "x: turn[0] is empty, but a turn must answer something",
        ),
        ("fault = {kind = 'cut'}", "x: turn[0] is empty, but a turn must answer something"),
        ("gap_ms = 1", "x: turn[0] is empty, but a turn must answer something"),
    ],
)
def test_a_turn_that_contradicts_itself_is_refused(turn: str, part: str) -> None:
    with pytest.raises(ScriptError) as refused:
        parse_script(TURN + turn, source="x")
    assert str(refused.value).startswith(part)


def test_an_empty_answer_may_be_meant() -> None:
    assert parse_script(TURN + "finish = 'stop'", source="x").turn[0].finish == "stop"


def test_a_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(ScriptError, match=r"turn\[0\]\.tool is '(z{56})\.\.\., but"):
        parse_script(f"{TURN}tool = '{'z' * 500}'", source="x")


def test_what_is_not_toml_is_refused_with_its_place() -> None:
    with pytest.raises(ScriptError, match=r"^x: the script is not TOML \(.*line 1"):
        parse_script("version = ?", source="x")


def test_a_file_is_named_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "rehearsal.toml"
    path.write_text("version = 3")
    with pytest.raises(ScriptError, match=f"^{path}: version is 3"):
        load_script(path)


def test_a_good_file_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "rehearsal.toml"
    path.write_text(FULL)
    assert load_script(path) == parse_script(FULL, source="x")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match=r"cannot be read \(No such file or directory\)"):
        load_script(tmp_path / "none.toml")


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rehearsal.toml"
    path.write_bytes(b"# \xff")
    with pytest.raises(ScriptError, match="byte 2 is not UTF-8"):
        load_script(path)
