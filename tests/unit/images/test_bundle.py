from pathlib import Path

from stanchion.images import bundle


def test_process_1_is_started_isolated_from_the_image() -> None:
    assert bundle.COMMAND == (
        "/opt/stanchion/bin/python3.11",
        "-I",
        "-S",
        "/opt/stanchion/app/start.py",
    )


def test_an_empty_cache_has_no_runtime(tmp_path: Path) -> None:
    assert not bundle.has_runtime(tmp_path)


def test_on_the_host_the_entry_file_of_the_folder_is_started() -> None:
    made = bundle.Bundle(Path("/cache/tree"), digest="d", size_bytes=1, cached=True)

    assert made.command_on_host()[-1] == "/cache/tree/app/start.py"
