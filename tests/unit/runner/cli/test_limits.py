import json
from pathlib import Path

from click.testing import CliRunner

from stanchion.runner.cli.root import root


def test_a_model_of_a_profile_as_one_document(tmp_path: Path) -> None:
    file = tmp_path / "stanchion.toml"
    file.write_text(
        'version = 1\n[profiles.evals.accounts.lab]\napi = "openai_chat"\n'
        'base_url = "https://h/v1"\ncredential = "none"\n'
        '[profiles.evals.models."lab/m"]\noutput_limit = 777\n'
    )
    done = CliRunner().invoke(root, ["limits", "lab/m", "--json", "--config", str(file)])
    document = json.loads(done.output)
    assert document["accounts"][0]["output_limit"] == {"value": 777, "source": "operator"}
    named = {harness["name"] for harness in document["accounts"][0]["harnesses"]}
    assert {"opencode", "qwen_code"} <= named
    assert "claude_code" not in named
