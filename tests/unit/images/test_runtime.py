from pathlib import Path

from stanchion.images import host, runtime


def test_the_recipe_changes_with_the_lock() -> None:
    assert runtime.recipe("a==1") == runtime.recipe("a==1")
    assert runtime.recipe("a==1") != runtime.recipe("a==2")


def test_nothing_that_would_bring_openssl_is_kept() -> None:
    assert not [name for name in runtime.LIBRARIES if "ssl" in name or "crypto" in name]
    assert {"lib-dynload/_ssl.*", "lib-dynload/_hashlib.*"} <= set(runtime.UNUSED_MODULES)


def test_on_the_host_the_bundles_own_loader_starts_its_interpreter() -> None:
    command = runtime.on_host(Path("/cache/tree"), host.architecture("x86_64"))

    assert command[0] == "/cache/tree/lib/ld-linux-x86-64.so.2"
    assert "/cache/tree/bin/python3.11" in command
    assert {"-I", "-S"} <= set(command)
