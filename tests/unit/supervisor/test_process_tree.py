from stanchion.supervisor.evidence import HarnessActive, ToolsActive
from stanchion.supervisor.process_tree import ProcessSample, ProcessTree, total_rss


def harness(cpu_ms: int | None) -> ProcessSample:
    return ProcessSample(key=(2, 0), is_harness=True, cpu_ms=cpu_ms, rss_bytes=100)


def tool(
    pid: int, cpu_ms: int | None, rss_bytes: int | None = 10, *, moved_bytes: int | None = None
) -> ProcessSample:
    return ProcessSample(
        key=(pid, 0),
        is_harness=False,
        cpu_ms=cpu_ms,
        rss_bytes=rss_bytes,
        moved_bytes=moved_bytes,
    )


def test_an_idle_harness_is_no_sign_of_life() -> None:
    tree = ProcessTree()
    assert tree.observe([harness(100)], 0) == []
    assert tree.observe([harness(340)], 5_000) == []
    assert tree.observe([harness(600)], 10_000) == [HarnessActive()]


def test_a_new_tool_and_a_busy_one_are_signs_and_a_waiting_one_is_none() -> None:
    tree = ProcessTree()
    assert tree.observe([harness(0)], 0) == []
    assert tree.observe([harness(0), tool(5, 0)], 5_000) == [ToolsActive()]
    assert tree.observe([harness(0), tool(5, 0)], 10_000) == []
    assert tree.observe([harness(0), tool(5, 10)], 15_000) == [ToolsActive()]


def test_cpu_of_ended_processes_stays_in_the_sum() -> None:
    tree = ProcessTree()
    tree.observe([harness(10), tool(5, 30)], 0)
    tree.observe([harness(20)], 5_000)
    assert tree.cpu_ms == 50


def test_a_reused_pid_is_another_process() -> None:
    tree = ProcessTree()
    tree.observe([ProcessSample(key=(5, 1), is_harness=False, cpu_ms=30, rss_bytes=1)], 0)
    signs = tree.observe(
        [ProcessSample(key=(5, 2), is_harness=False, cpu_ms=1, rss_bytes=1)], 5_000
    )
    assert signs == [ToolsActive()]
    assert tree.cpu_ms == 31


def test_what_could_not_be_read_takes_nothing_away() -> None:
    tree = ProcessTree()
    tree.observe([harness(100)], 0)
    tree.observe([harness(None)], 5_000)
    assert tree.cpu_ms == 100
    tree.observe([harness(130)], 10_000)
    assert tree.cpu_ms == 130


def test_a_tool_that_moves_bytes_is_a_sign_though_it_needs_no_time() -> None:
    tree = ProcessTree()
    tree.observe([tool(5, 0, moved_bytes=10)], 0)
    assert tree.observe([tool(5, 0, moved_bytes=10)], 5_000) == []
    assert tree.observe([tool(5, 0, moved_bytes=None)], 10_000) == []
    assert tree.observe([tool(5, 0, moved_bytes=10)], 15_000) == []
    assert tree.observe([tool(5, 0, moved_bytes=11)], 20_000) == [ToolsActive()]


def test_what_the_harness_prints_is_no_sign() -> None:
    def printing(moved_bytes: int) -> ProcessSample:
        return ProcessSample(
            key=(2, 0), is_harness=True, cpu_ms=0, rss_bytes=1, moved_bytes=moved_bytes
        )

    tree = ProcessTree()
    assert [tree.observe([printing(n)], n * 5_000) for n in range(4)] == [[]] * 4


def test_a_sum_with_an_unknown_is_unknown() -> None:
    assert total_rss([harness(0), tool(5, 0)]) == 110
    assert total_rss([harness(0), tool(5, 0, None)]) is None
    assert total_rss([]) is None
