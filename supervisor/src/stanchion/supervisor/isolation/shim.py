"""Process 1 of an agent's namespace: starts the agent, reaps, reports its raw wait status, exits.

Executed as a program with an empty environment, so no copy of the supervisor's memory is in it.
Its end ends everything in its namespace. It decides nothing and holds no secret.
"""

import errno
import os
import sys

sys.path.append(__file__.rpartition("/stanchion/")[0])

from stanchion.supervisor.isolation import enter, processes, self_test, syscalls
from stanchion.supervisor.isolation.shim_wire import GO, Order, decode_order, encode_report

CHANNEL = 3
"""A socket, not a pipe: an agent that opens /proc/1/fd/3 gets ENXIO, never a forged report."""


def report(kind: str, **fields: int | str | dict[str, bool]) -> None:
    """Tell the supervisor; where it is gone, nobody is left to tell."""
    try:
        os.write(CHANNEL, encode_report(kind, **fields))
    except OSError:
        os._exit(1)


def read_order() -> Order:
    """The order, however large; an end of the stream before it is the supervisor's end."""
    received = b""
    size = -1
    while size < 0 or len(received) < size:
        chunk = os.read(CHANNEL, 1 << 16)
        if not chunk:
            os._exit(1)
        received += chunk
        if size < 0 and b"\n" in received:
            head, _, received = received.partition(b"\n")
            size = int(head)
    return decode_order(received)


def prepare(order: Order) -> dict[str, bool]:
    """Isolate this process as ordered and check it; no checks = not isolated."""
    if not order.isolated:
        syscalls.become_subreaper()
        return {}
    enter.become_namespace_init(lambda pid: report("born", pid=pid))
    enter.own_mounts()
    pinned = enter.pin(order.pinned, order.hidden)
    enter.hide(order.hidden)
    enter.drop_powers()
    return self_test.run(hidden=order.hidden, pinned=pinned, sockets=order.sockets)


def become_harness(order: Order, trouble: int) -> None:
    """In the forked child: wait for the word, then become the agent's program.

    Whatever fails is written to `trouble` as its step and errno; success closes it.
    """
    step = "starting a session"
    try:
        if os.read(CHANNEL, len(GO)) != GO:
            os._exit(1)  # abandoned; the shim's next report fails on the closed socket
        os.setsid()
        os.umask(0o022)
        if os.getuid() == 0 or order.uid != os.getuid():
            step = f"becoming user {order.uid}"
            leave_groups(order.uid)
            os.setgid(order.uid)
            os.setuid(order.uid)
        step = f"entering {order.cwd}"
        os.chdir(order.cwd)
        step = f"executing {order.argv[0]}"
        syscalls.restore_signals()
        os.execvpe(order.argv[0], order.argv, order.env)  # noqa: S606 that is the job
    except (OSError, ValueError) as failed:
        number = getattr(failed, "errno", errno.EINVAL)
        os.write(trouble, encode_report("exec_failed", step=step, errno=number))
    finally:
        os._exit(127)


def leave_groups(uid: int) -> None:
    """No supplementary groups; where the kernel fixes them, the agent must be whom we are."""
    try:
        os.setgroups([])
    except PermissionError:
        # In a user namespace without privileges outside it (user_namespaces(7)).
        if uid != os.getuid():
            raise


def start_harness(order: Order, checks: dict[str, bool]) -> int:
    """Fork the agent's process, report, and see its program start; returns its number here."""
    trouble, childs_end = os.pipe()
    harness = os.fork()
    if harness == 0:
        become_harness(order, childs_end)
    os.close(childs_end)
    let_go_of_stdio()
    report("checked", checks=checks, harness=harness)
    if failure := os.read(trouble, 1 << 12):
        os.write(CHANNEL, failure)
        os._exit(0)
    os.close(trouble)
    return harness


def let_go_of_stdio() -> None:
    """The agent's pipes are the agent's: here they would hide its closing them.

    Closed and not replaced: an earlier agent may have left anything at /dev/null.
    """
    for number in range(3):
        os.close(number)


def reap_until_ended(harness: int) -> int:
    """Reap every child, orphans of the agent too, until the agent itself has ended."""
    while True:
        pid, status = os.wait()
        if pid == harness:
            return status


def sweep() -> None:
    """Without a namespace: end what the agent left, until this process has no child."""
    own = os.getpid()
    while left := processes.children(own):
        for pid in left:
            os.kill(pid, syscalls.SIGKILL)
        for pid in left:
            os.waitpid(pid, 0)


def main() -> None:
    """Never returns."""
    syscalls.set_undumpable()
    order = read_order()
    os.closerange(CHANNEL + 1, 1 << 16)
    os.set_inheritable(CHANNEL, False)
    try:
        checks = prepare(order)
        syscalls.ignore_signals()
        harness = start_harness(order, checks)
    except OSError as failed:
        report("failed", errno=failed.errno or 0, call=failed.strerror or "")
        os._exit(1)
    report("started")
    code = os.waitstatus_to_exitcode(reap_until_ended(harness))
    if not order.isolated:
        sweep()
    report("ended", **({"exit_code": code} if code >= 0 else {"signal": -code}))
    os._exit(0)


if __name__ == "__main__":
    main()
