from pathlib import Path

import pytest

from stanchion.broker.client.paths import StatePaths, runtime_dir


@pytest.mark.parametrize(
    ("option", "env", "euid", "root"),
    [
        ("/s", {"STANCHION_STATE": "/e"}, 0, "/s"),
        (None, {"STANCHION_STATE": "/e"}, 0, "/e"),
        (None, {}, 0, "/var/lib/stanchion"),
        (None, {"XDG_STATE_HOME": "/x", "HOME": "/h"}, 1000, "/x/stanchion"),
        (None, {"HOME": "/h"}, 1000, "/h/.local/state/stanchion"),
    ],
)
def test_the_state_folder(option: str | None, env: dict[str, str], euid: int, root: str) -> None:
    paths = StatePaths.resolve(option, env, euid=euid)
    assert paths.root == Path(root)
    assert paths.admin_socket == Path(root) / "broker" / "admin.sock"
    assert paths.public_key_file == Path(root) / "broker" / "signing.pub"
    assert paths.cache_dir == Path(root) / "cache"


def test_the_runtime_folder() -> None:
    assert runtime_dir({}, euid=0) == Path("/run/stanchion")
    assert runtime_dir({"XDG_RUNTIME_DIR": "/r"}, euid=1000) == Path("/r/stanchion")
    assert runtime_dir({}, euid=1000).name.startswith("stanchion-")
