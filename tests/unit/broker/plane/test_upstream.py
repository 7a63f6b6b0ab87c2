from stanchion.broker.plane.upstream import ResponseHead


def test_lengths_are_digits_or_unknown() -> None:
    for value, length in (("5", 5), ("-5", None)):
        head = ResponseHead(200, [("Content-Length", value), ("content-length", "7")])
        assert head.length == length
    assert ResponseHead(200, []).length is None
