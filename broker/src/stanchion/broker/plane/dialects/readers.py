"""The dialects that this broker reads on the wire, each with its reader."""

from stanchion.broker.plane.dialects.anthropic_messages import READER as ANTHROPIC_MESSAGES
from stanchion.broker.plane.dialects.base import DialectReader
from stanchion.broker.plane.dialects.gemini import READER as GEMINI
from stanchion.broker.plane.dialects.openai_chat import READER as OPENAI_CHAT
from stanchion.broker.plane.dialects.openai_responses import READER as OPENAI_RESPONSES
from stanchion.protocol.dialects import Dialect

READERS: dict[Dialect, DialectReader] = {
    Dialect.OPENAI_CHAT: OPENAI_CHAT,
    Dialect.OPENAI_RESPONSES: OPENAI_RESPONSES,
    Dialect.ANTHROPIC_MESSAGES: ANTHROPIC_MESSAGES,
    Dialect.GEMINI: GEMINI,
}
