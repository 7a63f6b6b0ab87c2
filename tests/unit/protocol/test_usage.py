from stanchion.protocol.usage import Usage, agreed, mixed, total


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


def test_what_figures_include_is_known_where_all_say_the_same() -> None:
    assert agreed([True, True]) is True
    assert agreed([False]) is False
    assert agreed([True, None]) is None
    assert agreed([True, False]) is None
    assert agreed([]) is None


def test_figures_are_mixed_only_where_two_are_known_to_differ() -> None:
    assert mixed([True, None, False])
    assert not mixed([True, None])
    assert not mixed([])
