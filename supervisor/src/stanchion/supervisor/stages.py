"""Says where the attempt is: every stage has a start and an end with its duration."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from stanchion.protocol.events import Event, Stage, StageChanged, StageState
from stanchion.protocol.refusal import RefusedError
from stanchion.supervisor.clock import Clock


@contextmanager
def stage(
    name: Stage,
    publish: Callable[[Event], None],
    clock: Clock,
    *,
    started_mono_ms: int | None = None,
) -> Iterator[None]:
    """Begun now or at the moment given; complete, or failed with the reason, after the block."""
    started_ms = clock.mono_ms() if started_mono_ms is None else started_mono_ms
    publish(StageChanged(stage=name, state=StageState.STARTED))
    try:
        yield
    except BaseException as error:
        detail = (
            str(error) if isinstance(error, RefusedError) else f"{type(error).__name__}: {error}"
        )
        publish(_ended(name, StageState.FAILED, clock.mono_ms() - started_ms, detail))
        raise
    publish(_ended(name, StageState.COMPLETE, clock.mono_ms() - started_ms, None))


def _ended(name: Stage, state: StageState, duration_ms: int, detail: str | None) -> StageChanged:
    return StageChanged(stage=name, state=state, duration_ms=duration_ms, detail=detail)
