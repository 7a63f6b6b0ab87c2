import pytest

from stanchion.harness_adapters.base import Adapter, Settings
from stanchion.harness_adapters.registry import adapter
from stanchion.harness_adapters.without_model import SOLVE, Noop, Oracle
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.evidence import SessionState

SETTINGS = Settings(
    model="m",
    base_url="http://127.0.0.1:1",
    dialect=Dialect.GEMINI,
    output_limit=1,
    context=None,
    effort=None,
    instruction="",
    home="/root",
    workdir="/work",
    package_dir="/opt/stanchion-harness/oracle/1",
    env={"COLOUR": "red"},
)
BOTH = [Oracle(), Noop()]


@pytest.mark.parametrize("harness", BOTH)
def test_they_ask_no_model_and_say_so_for_any_account(harness: Adapter) -> None:
    assert adapter(harness.name).asks_model is False
    assert harness.dialects == tuple(Dialect)
    harness.check(SETTINGS)
    written = harness.read_back({}, {})
    assert (written.model, written.output_limit, written.effort) == (None, None, None)
    assert harness.corrections(Dialect.GEMINI, 1) == harness.side_requests(Dialect.GEMINI) == ()


def test_the_oracle_runs_the_solution_in_the_tasks_environment() -> None:
    plan = Oracle().plan(SETTINGS)
    assert plan.argv[-1].endswith(SOLVE)
    assert plan.solution
    assert (plan.env["COLOUR"], plan.env["DEBIAN_FRONTEND"]) == ("red", "noninteractive")


def test_the_noop_is_given_no_solution() -> None:
    plan = Noop().plan(SETTINGS)
    assert not plan.solution
    assert SOLVE not in " ".join(plan.argv)


@pytest.mark.parametrize("harness", BOTH)
def test_their_output_is_free_text_and_no_session(harness: Adapter) -> None:
    reader = harness.session()
    assert reader.output(b'{"type":"error"}') == reader.rows([[1]]) == []
    assert reader.end().state is SessionState.UNKNOWN
    assert reader.end().steps is None
