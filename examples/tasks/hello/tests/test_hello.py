from pathlib import Path


def test_the_file_holds_the_sentence_and_nothing_else() -> None:
    assert Path("/work/hello.txt").read_bytes() == b"Hello from inside the sandbox.\n"
