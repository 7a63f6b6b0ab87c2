"""What the broker itself answers, in the dialect that most tests speak."""

from stanchion.broker.plane import replies
from stanchion.protocol.dialects import Dialect


def constant_reply(word: str, dialect: Dialect = Dialect.OPENAI_CHAT, status: int = 403) -> bytes:
    """OpenAI's shape does not have the status in it."""
    return replies.constant_reply(word, dialect, status)
