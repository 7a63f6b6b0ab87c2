import os
from pathlib import Path

import pytest

from stanchion.runner.launching.image_users import read_passwd


def test_the_users_of_an_image_are_read(tmp_path: Path) -> None:
    assert read_passwd(tmp_path) is None
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").write_text("agent:x:7:7\n")
    assert read_passwd(tmp_path) == "agent:x:7:7\n"


@pytest.mark.parametrize("kind", ["file", "folder", "pipe"])
def test_no_link_of_an_image_leads_to_the_hosts_own_file(tmp_path: Path, kind: str) -> None:
    if kind == "folder":
        (tmp_path / "etc").symlink_to("/etc")
    else:
        (tmp_path / "etc").mkdir()
    if kind == "file":
        (tmp_path / "etc/passwd").symlink_to("/etc/passwd")
    if kind == "pipe":
        os.mkfifo(tmp_path / "etc/passwd")
        assert not read_passwd(tmp_path)
        return
    assert read_passwd(tmp_path) is None
