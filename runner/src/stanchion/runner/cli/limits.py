"""`stanchion limits`: which limits, effort words and refusals a model meets, before it is run."""

import os
from pathlib import Path

import click


@click.command
@click.argument("model", metavar="MODEL")
@click.option("--config", metavar="FILE", help="stanchion.toml; default: searched upwards.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def limits(model: str, *, config: str | None, as_json: bool) -> None:
    """Say what MODEL gets: output limit and context with their source, effort words, refusals.

    MODEL is ACCOUNT/MODEL of a profile, or a bare model id. Starts nothing and asks nobody.
    """
    from stanchion.broker.client.config_file import find_config
    from stanchion.harness_adapters.registry import NAMES, adapter
    from stanchion.protocol.codec import encode
    from stanchion.runner.setup.model_limits import limits_lines, model_limits
    from stanchion.runner.setup.profile_views import profile_views

    file = find_config(config, os.environ, folder=Path.cwd(), home=Path.home())
    profiles = profile_views(None if file is None else file.path)
    view = model_limits(
        model, profiles, [found for name in NAMES if (found := adapter(name)).asks_model]
    )
    click.echo(encode(view) if as_json else "\n".join(limits_lines(view)))
