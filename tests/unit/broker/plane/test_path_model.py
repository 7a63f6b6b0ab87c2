import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.broker.plane.dialects.gemini import read_request
from stanchion.broker.plane.path_model import (
    EVENTS,
    FOLDER,
    MAX_MODEL,
    PLACE,
    STABLE_FOLDER,
    Addressed,
    addressed,
    is_addressable,
    path_to,
    with_path,
)

WHOLE = f"{FOLDER}{PLACE}:generateContent"
STREAM = f"{FOLDER}{PLACE}:streamGenerateContent{EVENTS}"


@pytest.mark.parametrize(
    "model", ["m", "gemini-2.5-pro", "gemini-3-flash-preview-04-17", "fx_coder.1", "a" * MAX_MODEL]
)
def test_a_plain_id_stands_in_a_path(model: str) -> None:
    assert is_addressable(model)
    for folder in (FOLDER, STABLE_FOLDER):
        found = addressed(f"{folder}{model}:generateContent")
        assert found == Addressed(folder, model, "generateContent")


@pytest.mark.parametrize(
    "model",
    [
        "",
        ".",
        "..",
        "a..b",
        ".a",
        "a.",
        "-a",
        "a--b",
        "a/b",
        "models/a",
        "../files",
        "a%2fb",
        "a%2eb",
        "a:b",
        "a b",
        "a\n",
        "a?b",
        "a#b",
        "a;b",
        "a@1",
        "a~b",
        "a\\b",
        "{model}",
        "é",
        "a\u0661",
        "a" * (MAX_MODEL + 1),
    ],
)
def test_every_other_id_does_not(model: str) -> None:
    assert not is_addressable(model)
    named = addressed(f"{FOLDER}{model}:generateContent")
    assert named is None or (named.model, named.action) == ("a", "b:generateContent")


@pytest.mark.parametrize(
    "target",
    [
        "/v1beta/models/m",
        "/v1beta/models/",
        "/v1beta/models",
        "/v1beta//models/m:generateContent",
        "/V1beta/models/m:generateContent",
        "/v1alpha/models/m:generateContent",
        "/v1/models/m",
        "/v1beta/tunedModels/m:generateContent",
        "v1beta/models/m:generateContent",
        "http://h/v1beta/models/m:generateContent",
        "/",
        "",
    ],
)
def test_no_other_folder_is_known(target: str) -> None:
    assert addressed(target) is None


def test_a_path_is_built_from_the_template_and_the_model() -> None:
    assert path_to(WHOLE, "m") == "/v1beta/models/m:generateContent"
    assert path_to(STREAM, "m") == "/v1beta/models/m:streamGenerateContent?alt=sse"
    assert path_to("/v1/messages", None) == "/v1/messages"


@given(st.text(max_size=20))
def test_a_path_upstream_never_has_more_parts_than_its_template(model: str) -> None:
    named = addressed(f"{FOLDER}{model}:generateContent")
    if named is not None and named.action == "generateContent":
        path = path_to(WHOLE, named.model)
        assert path == f"{FOLDER}{model}:generateContent"
        assert [path.count(sign) for sign in "/:?#%&"] == [3, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("said", "model"), [(None, "m"), ("m", "m"), ("models/m", "m"), ("n", None), ("models/n", None)]
)
def test_a_body_may_repeat_the_model_of_the_path_and_name_no_other(
    said: str | None, model: str | None
) -> None:
    asked = with_path(read_request({"model": said}, b""), WHOLE, "m")
    assert (None if asked is None else asked.model) == model


def test_the_path_says_whether_a_stream_is_asked_for() -> None:
    read = read_request({}, b"")
    for template, stream in ((WHOLE, False), (STREAM, True)):
        asked = with_path(read, template, "m")
        assert asked is not None
        assert asked.stream is stream


def test_without_a_model_in_the_path_the_body_is_taken_as_it_is() -> None:
    read = read_request({"model": "m"}, b"")
    assert with_path(read, "/v1/messages", None) == read
