from stanchion.protocol import codec
from stanchion.protocol.events import Unknown, Warned, decode_event


def test_a_known_event_is_decoded() -> None:
    event = Warned(what="tail", detail="not a database")
    assert decode_event(codec.encode(event)) == event


def test_an_event_of_a_later_version_is_kept_as_it_came() -> None:
    raw = b'{"type":"telepathy","strength":3}'
    assert decode_event(raw) == Unknown(type="telepathy", raw=raw)


def test_an_event_whose_fields_do_not_fit_is_kept_too() -> None:
    raw = b'{"type":"warning","what":3}'
    assert decode_event(raw) == Unknown(type="warning", raw=raw)
