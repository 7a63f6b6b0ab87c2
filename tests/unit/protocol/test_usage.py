from stanchion.protocol.usage import Usage, total


def test_a_sum_is_known_only_where_every_part_is() -> None:
    one = Usage(input_tokens=3, output_tokens=0)
    two = Usage(input_tokens=4, output_tokens=None, reasoning_tokens=9)
    assert one + two == Usage(input_tokens=7)


def test_an_explicit_zero_stays_zero() -> None:
    zero = Usage(input_tokens=0, output_tokens=0, reasoning_tokens=0)
    assert total([zero, zero]) == Usage(input_tokens=0, output_tokens=0, reasoning_tokens=0)


def test_nothing_or_a_silent_response_makes_the_sum_unknown() -> None:
    assert total([]) == Usage()
    assert total([Usage(input_tokens=1), None]) == Usage()
    assert total([Usage(input_tokens=1), Usage(input_tokens=2)]) == Usage(input_tokens=3)
