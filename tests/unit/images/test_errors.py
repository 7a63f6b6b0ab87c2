import pytest

from stanchion.images import errors


@pytest.mark.parametrize(
    "kind",
    [
        errors.UnsupportedHostError,
        errors.MissingToolError,
        errors.ToolFailedError,
        errors.IntegrityError,
    ],
)
def test_every_refusal_is_one_kind_and_carries_its_remedy(
    kind: type[errors.ImagesError],
) -> None:
    refused = kind("sentence", fix="command")

    assert isinstance(refused, errors.ImagesError)
    assert (str(refused), refused.fix) == ("sentence", "command")
    assert kind("sentence").fix is None
