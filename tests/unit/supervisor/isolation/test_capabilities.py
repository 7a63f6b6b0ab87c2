"""The tables of capabilities."""

from stanchion.supervisor.isolation import capabilities


def test_numbers_are_those_of_linux() -> None:
    numbers = {name: capabilities.NAMES.index(name) for name in ("CHOWN", "SYS_ADMIN", "BPF")}
    assert numbers == {"CHOWN": 0, "SYS_ADMIN": 21, "BPF": 39}
    assert len(capabilities.NAMES) == 41


def test_an_agent_gets_dockers_default_set_without_raw_sockets() -> None:
    docker_default = 0xA80425FB
    net_raw = 1 << capabilities.NAMES.index("NET_RAW")
    assert capabilities.mask(capabilities.HARNESS) == docker_default & ~net_raw


def test_the_supervisor_has_two_more_than_its_agent() -> None:
    assert {"SYS_ADMIN", "SYS_PTRACE"} == capabilities.SUPERVISOR - capabilities.HARNESS


def test_bits_beyond_the_allowed_are_shown_even_without_a_name() -> None:
    allowed = capabilities.mask(capabilities.HARNESS)
    assert capabilities.outside(allowed, capabilities.HARNESS) == 0
    assert capabilities.outside(allowed | 1 << 21, capabilities.HARNESS) == 1 << 21
    assert capabilities.outside(1 << 63, capabilities.HARNESS) == 1 << 63
