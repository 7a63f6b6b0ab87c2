"""The config.json of a sandbox."""

import json
from typing import Any

from stanchion.runner.sandbox.oci import Bind, Box, config_json, harness_place


def config(**changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "rootfs": "/cache/base",
        "binds": (Bind("/host/attempt", "/run/stanchion"),),
        "arguments": ("/opt/stanchion/bin/python3.11", "start.py"),
        "memory_mb": 2048,
        "cgroups_path": "/stanchion/x",
    }
    made: dict[str, Any] = json.loads(config_json(Box(**fields | changes)))
    return made


def test_process_1_gets_a_path_and_nothing_else_of_an_environment() -> None:
    process = config()["process"]

    assert [entry.split("=")[0] for entry in process["env"]] == ["PATH"]
    assert process["args"] == ["/opt/stanchion/bin/python3.11", "start.py"]
    assert process["user"] == {"uid": 0, "gid": 0}
    assert process["terminal"] is False


def test_capabilities_are_bounded_and_neither_inheritable_nor_ambient() -> None:
    capabilities = config()["process"]["capabilities"]

    assert set(capabilities) == {"bounding", "effective", "permitted"}
    given = set(capabilities["bounding"])
    assert {"CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_SYS_CHROOT"} <= given
    assert not given & {"CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_SYS_TIME", "CAP_DAC_READ_SEARCH"}


def test_open_files_and_processes_are_limited_by_rlimits() -> None:
    limits = {entry["type"]: entry["hard"] for entry in config()["process"]["rlimits"]}

    assert limits == {"RLIMIT_NOFILE": 65_536, "RLIMIT_NPROC": 4_096}


def test_host_folders_are_bound_read_only() -> None:
    binds = [mount for mount in config()["mounts"] if mount["type"] == "bind"]

    assert binds == [
        {
            "destination": "/run/stanchion",
            "type": "bind",
            "source": "/host/attempt",
            "options": ["rbind", "ro"],
        }
    ]


def test_memory_backed_folders_are_sized_and_open_to_all() -> None:
    mounts = {mount["destination"]: mount for mount in config()["mounts"]}

    for place, size in (("/tmp", "size=512m"), ("/dev/shm", "size=256m")):
        assert {"mode=1777", size} <= set(mounts[place]["options"])


def test_limits_go_to_the_cgroup_below_the_permanent_parent() -> None:
    linux = config(cpu_milli=1500)["linux"]

    assert linux["cgroupsPath"] == "/stanchion/x"
    assert linux["resources"] == {
        "memory": {"limit": 2048 * 1024 * 1024},
        "cpu": {"quota": 150_000, "period": 100_000},
    }
    assert "cgroupsPath" not in config(cgroups_path=None)["linux"]
    assert "cpu" not in config()["linux"]["resources"]


def test_each_harness_has_its_place() -> None:
    assert harness_place("opencode", "1.2.3") == "/opt/stanchion-harness/opencode/1.2.3"
