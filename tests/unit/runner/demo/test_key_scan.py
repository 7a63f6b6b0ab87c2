"""Finding a secret in sparse files and in the processes of a sandbox."""

import os
from pathlib import Path

import pytest

from stanchion.runner.demo import key_scan
from stanchion.runner.demo.key_scan import count_in, sandbox_pids, scan_sandbox

SECRET = b"sk-secret-0123456789"
ID = "ab" * 16


def count(path: Path, secret: bytes = SECRET) -> tuple[int, int]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return count_in(descriptor, secret)
    finally:
        os.close(descriptor)


def test_a_secret_across_two_reads_is_found_once(tmp_path: Path) -> None:
    file = tmp_path / "file"
    border = key_scan.CHUNK_BYTES
    for start in (border - len(SECRET) + 1, border - 1, border - len(SECRET), border):
        data = bytearray(border + 100)
        data[start : start + len(SECRET)] = SECRET
        file.write_bytes(data)
        assert count(file) == (1, len(data))


def test_holes_are_skipped(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with file.open("wb") as opened:
        opened.seek(64 * 1024 * 1024)
        opened.write(SECRET)
    found, scanned = count(file)

    assert found == 1
    assert scanned < 1024 * 1024


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert count(tmp_path / "file") == (0, 0)


def test_a_secret_of_one_byte_is_counted_once_each(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"axbxc")

    assert count(tmp_path / "file", b"x")[0] == 2


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """Two processes of the sandbox, one of another, as /proc shows them."""
    stores = tmp_path / "stores"
    stores.mkdir()
    (stores / "memfd:runsc-memory").write_bytes(b"\0" * 5000 + SECRET)
    (stores / "runsc-filestore-1").write_bytes(SECRET + b"\0" + SECRET)
    proc = tmp_path / "proc"
    for pid, line, group in (
        ("10", f"runsc-sandbox\0boot\0{ID}", ""),
        ("11", "exe", f"9:memory:/stanchion/{ID}\n"),
        ("12", "runsc-sandbox\0boot\0other", ""),
        ("13", f"grep\0{ID}", ""),
    ):
        (proc / pid / "fd").mkdir(parents=True)
        (proc / pid / "cmdline").write_text(line)
        (proc / pid / "cgroup").write_text(group)
        (proc / pid / "environ").write_bytes(b"A=1")
    for pid in ("10", "11"):
        (proc / pid / "fd" / "3").symlink_to(stores / "memfd:runsc-memory")
    (proc / "10" / "fd" / "4").symlink_to(stores / "runsc-filestore-1")
    (proc / "10" / "fd" / "5").symlink_to("/nowhere")
    (proc / "self").mkdir()
    return proc


def test_only_the_sandboxes_own_processes_are_looked_at(proc: Path) -> None:
    assert sandbox_pids(ID, proc=proc) == [10, 11]


def test_every_store_is_read_once(proc: Path) -> None:
    scan = scan_sandbox(ID, SECRET, proc=proc)

    assert (scan.places, scan.why) == (3, None)
    assert scan.scanned_bytes > 5000


def test_the_environment_of_its_processes_is_looked_at(proc: Path) -> None:
    (proc / "11" / "environ").write_bytes(b"KEY=" + SECRET)

    assert scan_sandbox(ID, SECRET, proc=proc).places == 4


def test_another_secret_is_nowhere(proc: Path) -> None:
    assert scan_sandbox(ID, b"sk-another", proc=proc).places == 0


def test_a_missing_store_is_no_proof(proc: Path) -> None:
    (proc / "10" / "fd" / "4").unlink()
    scan = scan_sandbox(ID, SECRET, proc=proc)

    assert (scan.places, scan.scanned_bytes) == (None, 0)
    assert scan.why is not None
    assert "filestore" in scan.why


def test_without_a_process_nothing_is_said(proc: Path) -> None:
    scan = scan_sandbox("cd" * 16, SECRET, proc=proc)

    assert scan.places is None


def test_an_empty_secret_is_a_mistake(proc: Path) -> None:
    with pytest.raises(ValueError, match="empty"):
        scan_sandbox(ID, b"", proc=proc)
