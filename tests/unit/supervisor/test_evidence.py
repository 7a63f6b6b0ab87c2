import dataclasses
import typing

from stanchion.supervisor import evidence


def test_evidence_is_values_without_a_clock() -> None:
    for kind in typing.get_args(evidence.Evidence):
        assert kind.__dataclass_params__.frozen
        names = {field.name for field in dataclasses.fields(kind)}
        assert not {name for name in names if name.endswith("_ms")}
