from functional.broker.plane.in_process import in_process
from stanchion.broker.plane.desk import Desk
from stanchion.broker.plane.limits import Limits


async def test_an_attempt_has_all_that_an_exchange_asks_for() -> None:
    names = {
        name
        for part in Desk.__mro__
        for name in (*vars(part), *getattr(part, "__annotations__", {}))
        if not name.startswith("_")
    }
    assert {"spec", "note_start", "note_end", "limits", "revoked", "note_try"} <= names
    async with in_process(9, limits=Limits()) as stage:
        assert [name for name in sorted(names) if not hasattr(stage.attempt, name)] == []
