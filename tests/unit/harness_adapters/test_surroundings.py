from dataclasses import replace

from stanchion.harness_adapters.surroundings import surroundings
from stanchion.protocol.dialects import Dialect
from unit.harness_adapters.plain_launch import plain

PLAIN = plain(Dialect.ANTHROPIC_MESSAGES)


def test_the_relay_is_never_asked_for_through_a_proxy() -> None:
    for given in ({"NO_PROXY": "a.test"}, {"no_proxy": "a.test"}):
        env = surroundings(replace(PLAIN, env={"HTTP_PROXY": "http://p", **given}))
        assert env["NO_PROXY"] == env["no_proxy"] == "a.test,127.0.0.1"
        assert env["HTTP_PROXY"] == "http://p"
    assert surroundings(replace(PLAIN, env={}))["no_proxy"] == "127.0.0.1"


def test_the_task_chooses_its_search_path_but_not_the_harness_home() -> None:
    env = surroundings(replace(PLAIN, env={"PATH": "/x", "HOME": "/y", "TERM": "xterm"}))
    assert (env["PATH"], env["HOME"], env["TERM"]) == ("/x", PLAIN.home, "dumb")
