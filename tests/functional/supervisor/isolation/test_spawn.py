"""The shim's process gets its pipes, its socket, and no signal of ours that is ignored."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence

import pytest

from functional.supervisor.isolation.jobs import open_descriptors
from stanchion.supervisor.isolation.spawn import Spawned, spawn_shim

Spawn = Callable[[Sequence[str]], Spawned]


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    made: list[Spawned] = []

    def one(interpreter: Sequence[str]) -> Spawned:
        made.append(spawn_shim(interpreter))
        return made[-1]

    yield one
    for spawned in made:
        spawned.channel.close()
        for descriptor in (spawned.stdin, spawned.stdout, spawned.stderr):
            os.close(descriptor)


def status_of(spawned: Spawned) -> int:
    return os.waitpid(spawned.pid, 0)[1]


def test_the_four_descriptors_are_in_their_places(spawn: Spawn) -> None:
    script = 'for n in 0 1 2 3; do readlink "/proc/$$/fd/$n"; done'
    spawned = spawn(("/bin/sh", "-c", script))
    assert status_of(spawned) == 0
    kinds = [line.split(":")[0] for line in os.read(spawned.stdout, 4096).decode().split()]
    assert kinds == ["pipe", "pipe", "pipe", "socket"]


def test_each_stream_is_the_right_one(spawn: Spawn) -> None:
    spawned = spawn(("/bin/sh", "-c", "read -r word; echo out $word; echo err $word >&2"))
    os.write(spawned.stdin, b"given\n")
    assert status_of(spawned) == 0
    assert os.read(spawned.stdout, 100) == b"out given\n"
    assert os.read(spawned.stderr, 100) == b"err given\n"


def test_ignored_signals_are_not_inherited(spawn: Spawn) -> None:
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        spawned = spawn(("/bin/sh", "-c", "kill -USR1 $$; exit 0"))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert os.WTERMSIG(status_of(spawned)) == signal.SIGUSR1


def test_a_failed_start_leaves_no_descriptor(spawn: Spawn) -> None:
    before = len(open_descriptors())
    with pytest.raises(FileNotFoundError):
        spawn(("/no/such/program",))
    assert len(open_descriptors()) == before
