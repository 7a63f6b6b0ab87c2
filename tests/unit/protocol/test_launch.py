import msgspec
import pytest

from fakes.samples import sample
from stanchion.protocol import codec
from stanchion.protocol.codec import CodecError
from stanchion.protocol.launch import FrozenLaunch, LaunchSpec


def test_a_spec_has_one_digest_wherever_it_travels() -> None:
    launch = sample(FrozenLaunch)
    again = codec.decode(codec.encode(launch), FrozenLaunch)
    assert again == launch
    assert codec.digest(again) == codec.digest(launch)


def test_an_unknown_field_is_refused_by_name() -> None:
    data = msgspec.to_builtins(sample(LaunchSpec))
    data["limits"]["outptu_tokens"] = 1
    with pytest.raises(CodecError, match="outptu_tokens"):
        codec.decode(codec.encode(data), LaunchSpec)


def test_the_spec_holds_no_floats() -> None:
    def floats(value: object) -> bool:
        if isinstance(value, dict):
            return any(floats(item) for item in value.values())
        if isinstance(value, (list, tuple)):
            return any(floats(item) for item in value)
        return isinstance(value, float)

    assert not floats(msgspec.to_builtins(sample(FrozenLaunch)))
