"""`stanchion init`: a commented stanchion.toml, and the commands that come next."""

from pathlib import Path

import click


@click.command
@click.option(
    "--provider",
    type=click.Choice(
        ["anthropic", "gemini", "openai", "openai-compatible", "openai-responses", "vllm"]
    ),
    help="Fill in the account of this provider; without it all are comments.",
)
@click.option("--base-url", metavar="URL", help="Where the provider answers, if elsewhere.")
@click.option(
    "--path",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("stanchion.toml"),
    show_default=True,
    help="The file to write; one that exists is never changed.",
)
def init(*, provider: str | None, base_url: str | None, path: Path) -> None:
    """Write a commented stanchion.toml and say what to do next. No key goes into it."""
    from stanchion.runner.setup.first_config import PROFILE, PROVIDERS, config_text, write_new

    if base_url is not None and provider is None:
        raise click.UsageError("--base-url needs --provider: whose address is it?")
    write_new(path, config_text(provider, base_url))
    at = "" if path == Path("stanchion.toml") else f" --config {path}"
    if provider is None:
        click.echo(f"{path} written: profile {PROFILE}, its accounts are comments")
        click.echo(f"next:  take the # from one account, then stanchion broker check{at}")
        return
    chosen = PROVIDERS[provider]
    click.echo(
        f"{path} written: profile {PROFILE}, account {chosen.account} "
        f"({chosen.api}, {base_url or chosen.base_url})"
    )
    steps = [f"stanchion broker check --live{at}"]
    if chosen.credential.startswith("file:"):
        steps.insert(0, f"stanchion key set {PROFILE}/{chosen.account}{at}")
    steps.append(f"stanchion run TASK --harness opencode --model {chosen.account}/MODEL{at}")
    for number, step in enumerate(steps):
        click.echo(f"{'next:' if number == 0 else '':<7}{step}")
