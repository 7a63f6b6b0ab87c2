import pytest

from stanchion.broker.plane.dialects.base import ProviderError
from stanchion.broker.plane.dialects.chat_document import decoded, error_in


def error(data: bytes) -> ProviderError | None:
    document = decoded(data)
    assert document is not None
    return error_in(document)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            b'{"error":{"message":"m","type":"t","param":"p","code":"c"}}',
            ProviderError(words="m", kind="t", param="p", code="c"),
        ),
        (b'{"error":{"message":"m","code":502}}', ProviderError(words="m", status=502)),
        (b'{"error":{"message":"m","code":1302}}', ProviderError(words="m", code="1302")),
        (
            b'{"error":{"message":"m","metadata":{"raw":"r","error_type":"e"}}}',
            ProviderError(words="m", kind="e", detail="r"),
        ),
        (b'{"error":{}}', ProviderError(words=None)),
        (b'{"code":"denied","error":"m"}', ProviderError(words="m", code="denied")),
        (
            b'{"object":"error","message":"m","type":"t","code":500}',
            ProviderError(words="m", kind="t", status=500),
        ),
        (b'{"code":"Arrearage","message":"m"}', ProviderError(words="m", code="Arrearage")),
        (b'{"code":500,"msg":"m","success":false}', ProviderError(words="m", status=500)),
        (b'{"detail":"Not Found"}', ProviderError(words="Not Found")),
        (b'[{"error":{"message":"m","code":400}}]', ProviderError(words="m", status=400)),
    ],
)
def test_an_error_comes_in_many_shapes(data: bytes, expected: ProviderError) -> None:
    assert error(data) == expected


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b'{"error":null}',
        b'{"error":""}',
        b'{"error":3}',
        b'{"choices":[],"code":5,"message":"m"}',
        b'{"choices":[],"detail":"m"}',
        b'{"code":0,"message":"ok"}',
        b'{"code":200,"msg":"ok"}',
        b'{"code":5}',
        b'{"code":true,"msg":3}',
        b'{"message":"m"}',
        b'{"detail":[{"msg":"m"}]}',
    ],
)
def test_an_answer_is_no_error(data: bytes) -> None:
    assert error(data) is None


@pytest.mark.parametrize(
    "data",
    [b"", b"\n\n", b"x", b"3", b"[]", b"[{}]", b"[3]", b'[{"error":3},{"error":3}]', b"\xff"],
)
def test_what_is_no_document_is_none(data: bytes) -> None:
    assert decoded(data) is None
