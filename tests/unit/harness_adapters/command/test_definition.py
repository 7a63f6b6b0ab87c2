import pytest

from stanchion.harness_adapters.command.definition import LIMIT_FIELDS, read
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import Refusal, RefusedError
from unit.harness_adapters.command.own_programs import PLAIN


def refused(text: str) -> Refusal:
    with pytest.raises(RefusedError) as raised:
        read(text, "agent.toml")
    assert raised.value.refusal.id == "command_unusable"
    return raised.value.refusal


def test_a_whole_description_is_taken_as_it_is_written() -> None:
    described = read(PLAIN, "agent.toml")
    assert described.program == "program"
    assert described.command.argv[3] == ("--effort", "{{effort}}")
    assert described.command.dialects == (Dialect.OPENAI_CHAT, Dialect.ANTHROPIC_MESSAGES)
    assert (described.command.header_wait_s, described.command.cannot_say) == (600, ())


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("name = ", "nane = ", "agent.toml"),
        ("header_wait_s = 600", "", "agent.toml"),
        ("header_wait_s = 600", "header_wait_s = 0", "agent.toml, header_wait_s and memory_mb"),
        ('"openai_chat", ', '"telnet", ', "agent.toml"),
        ('"openai_chat", ', '"anthropic_messages", ', "agent.toml, dialects"),
        ('version = "1"', 'version = "1/2"', "agent.toml, version"),
        ('["{{program}}/run", ', '[["{{program}}/run"], ', "agent.toml, argv"),
        ("{{workdir}}", "{{work_dir}}", "agent.toml, argv"),
        ("BASE_URL =", "NO_PROXY =", "agent.toml, env"),
        ("{{home}}/.tiny", ".tiny", "agent.toml, files"),
        ("{{home}}/.tiny", "{{workdir}}/.tiny", "agent.toml, files"),
        ('program = "program"', "", "agent.toml, program"),
        ("{{program}}/run", "/usr/bin/run", "agent.toml, program"),
        ('"KEY"', '"KEY"', None),
    ],
)
def test_what_is_misspelt_or_missing_is_refused_by_its_field(
    old: str, new: str, field: str | None
) -> None:
    if field is None:
        read(PLAIN.replace(old, new), "agent.toml")
        return
    assert old in PLAIN
    assert refused(PLAIN.replace(old, new)).field == field


@pytest.mark.parametrize("name", ["base_url", "model", "output_limit", "instruction"])
def test_what_every_launch_declares_is_told_or_the_file_says_that_it_cannot_be(name: str) -> None:
    text = PLAIN.replace("{{instruction_json}}", "1").replace("{{" + name + "}}", "fixed")
    assert "{{" + name + "}}" in refused(text).sentence()
    if name == "model":
        read('cannot_say = ["model"]\n' + text, "agent.toml")
    elif name == "output_limit":
        said = 'cannot_say = ["output_limit"]\nlimit_field = "max_tokens"\n' + text
        assert read(said, "agent.toml").command.limit_field == "max_tokens"
    else:
        assert refused(f'cannot_say = ["{name}"]\n' + text)


@pytest.mark.parametrize("word", ["effort", "base_url", "output_limit", "anything"])
def test_only_what_is_not_told_and_may_be_left_out_is_listed_as_unsayable(word: str) -> None:
    assert refused(f'cannot_say = ["{word}"]\n' + PLAIN).field == "agent.toml, cannot_say"


@pytest.mark.parametrize("dialect", list(Dialect))
def test_a_limit_that_cannot_be_said_goes_where_the_broker_can_write_it(dialect: Dialect) -> None:
    text = PLAIN.replace("{{output_limit}}", "1").replace(
        'dialects = ["openai_chat", "anthropic_messages"]', f'dialects = ["{dialect}"]'
    )
    text = 'cannot_say = ["output_limit"]\n' + text
    assert refused(text).field == "agent.toml, limit_field"
    assert refused('limit_field = "temperature"\n' + text).value == "temperature"
    for field in LIMIT_FIELDS[dialect]:
        read(f'limit_field = "{field}"\n' + text, "agent.toml")


@pytest.mark.parametrize("dialect", list(Dialect))
def test_an_effort_may_be_unsayable_only_where_it_is_a_plain_field(dialect: Dialect) -> None:
    text = PLAIN.replace("{{effort}}", "fixed").replace(
        'dialects = ["openai_chat", "anthropic_messages"]', f'dialects = ["{dialect}"]'
    )
    text = 'cannot_say = ["effort"]\n' + text
    if dialect is Dialect.OPENAI_CHAT:
        assert read(text, "agent.toml").command.cannot_say == ("effort",)
    else:
        found = refused(text)
        assert (found.field, found.value) == ("agent.toml, cannot_say", "effort")
        assert dialect in found.rule


def test_a_limit_field_is_only_for_a_program_that_cannot_say_its_limit() -> None:
    assert refused('limit_field = "max_tokens"\n' + PLAIN).field == "agent.toml, limit_field"


def test_a_side_request_is_declared_with_its_fingerprint() -> None:
    side = (
        '\n[[side_requests]]\nname = "title"\nbody_contains = "a title"\nmax_output_tokens = 99\n'
    )
    (found,) = read(PLAIN + side, "agent.toml").command.side_requests
    assert (found.name, found.max_output_tokens) == ("title", 99)
