import pytest

from stanchion.runner.tasks.host_variables import Expanded, NotExpandedError, expand

HOST = {"LANGUAGE": "de", "EMPTY": "", "OPENAI_API_KEY": "sk-secret", "PLACE": "sk-secret"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("", ""),
        ("${LANGUAGE}", "de"),
        ("${LANGUAGE:-en}", "de"),
        ("${EMPTY:-x}", ""),
        ("${OTHER:-en}", "en"),
        ("${OTHER:-}", ""),
        ("${OTHER:-a:-b}", "a:-b"),
        ("a ${LANGUAGE}", "a ${LANGUAGE}"),
        ("${LANGUAGE} ${LANGUAGE}", "${LANGUAGE} ${LANGUAGE}"),
        ("$LANGUAGE", "$LANGUAGE"),
    ],
)
def test_only_a_whole_template_is_expanded(text: str, value: str) -> None:
    found = expand("L", text, HOST)
    assert found.value == value
    assert (found.note is None) is (value == text)


def test_what_was_read_is_said() -> None:
    assert "LANGUAGE of this host" in str(expand("L", "${LANGUAGE}", HOST).note)
    assert "not set" in str(expand("L", "${OTHER:-x}", HOST).note)


def test_a_variable_that_is_not_set_and_has_no_default_is_an_error() -> None:
    with pytest.raises(NotExpandedError) as raised:
        expand("L", "${OTHER}", HOST)
    assert "OTHER" in raised.value.rule
    assert "export OTHER" in raised.value.remedy


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("OPENAI_API_KEY", "${OPENAI_API_KEY}"),
        ("X", "${OPENAI_API_KEY}"),
        ("JUDGE_TOKEN", "${PLACE}"),
        ("db_password", "${PLACE}"),
        ("X", "${AWS_CREDENTIALS}"),
    ],
)
def test_a_secret_is_refused_even_where_it_is_set(name: str, text: str) -> None:
    with pytest.raises(NotExpandedError) as raised:
        expand(name, text, HOST)
    assert "sk-secret" not in raised.value.rule + raised.value.remedy


def test_a_secret_with_a_default_has_its_default_and_says_so() -> None:
    found = expand("OPENAI_API_KEY", "${OPENAI_API_KEY:-none}", HOST)
    assert found == Expanded("none", "its default; OPENAI_API_KEY of this host may be a secret")


def test_a_number_of_tokens_is_no_secret() -> None:
    assert expand("MAX_TOKENS", "${LANGUAGE}", HOST).value == "de"
