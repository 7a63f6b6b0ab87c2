from stanchion.protocol.dialects import EFFORT_WORDS, Dialect, knows_effort


def test_each_dialect_has_its_own_words() -> None:
    assert set(EFFORT_WORDS) == set(Dialect)
    assert knows_effort(Dialect.OPENAI_CHAT, "minimal")
    assert not knows_effort(Dialect.ANTHROPIC_MESSAGES, "minimal")
    assert knows_effort(Dialect.GEMINI, "xhigh")
    assert not knows_effort(Dialect.GEMINI, "max")
    assert not knows_effort(Dialect.OPENAI_CHAT, "MAX")
