from stanchion.broker.plane.frame import Frame, always


def test_a_frame_is_that_of_the_event_within_its_piece() -> None:
    frame = Frame(b'{"text":"', b'"}', always).around(b"event: a\ndata: ", b"\n\n")
    assert b"hi".join((frame.start, frame.end)) == b'event: a\ndata: {"text":"hi"}\n\n'
    assert frame.stands()
