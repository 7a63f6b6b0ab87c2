from stanchion.harness_adapters import node_program
from stanchion.harness_adapters.base import Settings
from stanchion.protocol.dialects import Dialect

SETTINGS = Settings(
    model="m",
    base_url="http://127.0.0.1:1",
    dialect=Dialect.OPENAI_CHAT,
    output_limit=1,
    context=None,
    effort=None,
    instruction="x",
    home="/root",
    workdir="/work",
    package_dir="/opt/harness/a/1",
    env={"PATH": "/image/with/another/node"},
)


def test_a_script_is_run_by_the_packages_own_node_whatever_the_image_has() -> None:
    assert node_program.command(SETTINGS, "bin/x.js", "--flag") == (
        "/opt/harness/a/1/runtime/bin/node",
        "/opt/harness/a/1/bin/x.js",
        "--flag",
    )
