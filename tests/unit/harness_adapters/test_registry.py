import pytest

from stanchion.harness_adapters import registry
from stanchion.protocol.refusal import RefusedError


def test_each_name_gives_the_adapter_of_that_name() -> None:
    assert tuple(sorted(registry.NAMES)) == registry.NAMES
    for name in registry.NAMES:
        adapter = registry.adapter(name)
        assert adapter.name == name
        assert adapter.versions
        assert adapter.dialects


def test_an_unknown_harness_is_refused_with_the_known_ones() -> None:
    with pytest.raises(RefusedError) as refused:
        registry.adapter("OpenCode")
    assert refused.value.refusal.id == "harness_unknown"
    assert "opencode" in refused.value.refusal.sentence()
