import pytest

from stanchion.protocol.refusal import RefusedError
from stanchion.runner.tasks.task_values import Values, parse_size_mb
from stanchion.runner.tasks.toml_lines import TomlLines

VALUES = Values("t/task.toml", TomlLines("\n[environment]\ncpus = 1\n"), {})


@pytest.mark.parametrize(
    ("text", "size_mb"),
    [("2G", 2048), ("512M", 512), ("1.5GiB", 1536), ("1k", 1), ("1T", 1048576), ("2", None)],
)
def test_sizes_are_read_in_megabytes(text: str, size_mb: int | None) -> None:
    assert parse_size_mb(text) == size_mb


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("environment.cpus", "t/task.toml:3, environment.cpus"),
        ("environment.gone", "t/task.toml:2, environment.gone"),
        ("agent.user", "t/task.toml, agent.user"),
    ],
)
def test_a_place_has_file_line_and_field(name: str, place: str) -> None:
    assert VALUES.place(name) == place


def test_a_refusal_says_what_to_do_where_nothing_better_is_known() -> None:
    sentence = VALUES.refuse("environment.cpus", 1, "is wrong").refusal.sentence()
    assert sentence == (
        "t/task.toml:3, environment.cpus = '1': is wrong. change or remove environment.cpus"
    )


@pytest.mark.parametrize("value", [-1, True, 2**31, "a b", "", "9999999999", "Ä", 1.5, ["x"]])
def test_what_names_no_user_is_refused(value: object) -> None:
    with pytest.raises(RefusedError):
        VALUES.user(value, "agent.user")


@pytest.mark.parametrize("value", ["/abs", "../up", "a/../b", ".", "", "./.", 7])
def test_no_destination_leads_out(value: object) -> None:
    if value == "":
        (kept,) = VALUES.artifacts([{"source": "/a", "destination": value}])
        assert kept.destination is None
        return
    with pytest.raises(RefusedError):
        VALUES.artifacts([{"source": "/a", "destination": value}])
