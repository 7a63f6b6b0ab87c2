import subprocess
import sys

import pytest

from stanchion.harness_adapters import registry
from stanchion.harness_adapters.base import Adapter
from stanchion.harness_adapters.command.definition import read
from stanchion.protocol.refusal import RefusedError
from unit.harness_adapters.command.own_programs import PLAIN


def test_each_name_gives_the_adapter_of_that_name() -> None:
    assert tuple(sorted(registry.NAMES)) == registry.NAMES
    for name in registry.NAMES:
        adapter = registry.adapter(name)
        members = set(dir(Adapter)) | set(Adapter.__annotations__)
        assert {name for name in members if not name.startswith("_")} <= set(dir(adapter))
        assert adapter.name == name
        assert adapter.versions
        assert adapter.dialects


def test_an_unknown_harness_is_refused_with_the_known_ones() -> None:
    with pytest.raises(RefusedError) as refused:
        registry.adapter("OpenCode")
    assert refused.value.refusal.id == "harness_unknown"
    assert "opencode" in refused.value.refusal.sentence()


def test_an_adapter_is_imported_when_it_is_asked_for_and_no_other() -> None:
    """Every attempt pays for what its supervisor imports."""
    program = (
        "import sys\n"
        "from stanchion.harness_adapters import registry\n"
        "registry.adapter('noop')\n"
        "found = {name.split('.')[2] for name in sys.modules if name.count('.') > 1\n"
        "         and name.startswith('stanchion.harness_adapters.')}\n"
        "assert 'without_model' in found, found\n"
        "assert not found & set(registry.NAMES), found\n"
    )
    subprocess.run([sys.executable, "-c", program], timeout=50, check=True)


def test_a_program_of_the_users_needs_its_description_and_no_other_harness_takes_one() -> None:
    command = read(PLAIN, "agent.toml").command
    assert registry.adapter("command", command).versions == ("tiny-1",)
    for name, described in (("command", None), ("opencode", command)):
        with pytest.raises(RefusedError) as refused:
            registry.adapter(name, described)
        assert refused.value.refusal.id == "command_missing"
