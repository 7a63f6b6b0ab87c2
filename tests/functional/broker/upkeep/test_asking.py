from stanchion.broker.plane.target import Target
from stanchion.broker.secrets import Secret
from stanchion.broker.upkeep.asking import MAX_WORDS, question, read_error
from stanchion.protocol.dialects import Dialect

KEY = "sk-CANARY-0123456789"
TARGET = Target(host="h", port=1, authority="h", path="/v1", tls=None, key=Secret(KEY))


def test_words_come_from_any_shape_of_error_and_never_with_the_key() -> None:
    for body, words in (
        (b'{"error":{"message":"no","type":"t","code":"c"}}', "no"),
        (b'{"error":"no"}', "no"),
        (b'{"message":"no"}', "no"),
        (b"<h1>no</h1>", "<h1>no</h1>"),
        (b'{"error":{"message":{"a":1}}}', None),
        (b"", None),
        (f"key {KEY}".encode(), f"key {'*' * len(KEY)}"),
        (b"[" * 5000, "[" * MAX_WORDS),
    ):
        assert read_error(body, TARGET).words == words


def test_the_question_is_said_as_it_is_sent() -> None:
    assert question(Dialect.OPENAI_CHAT, TARGET) == "GET /v1/models"
