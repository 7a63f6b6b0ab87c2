"""`stanchion show`: results read from a folder; needs no broker."""

from pathlib import Path

import click


@click.command
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@click.option("--json", "as_json", is_flag=True, help="The result as one JSON document.")
def show(path: Path, *, as_json: bool) -> None:
    """Show the results below PATH: a result folder, one of its attempts or a result.json.

    With --json a single attempt is printed as an object, several as an array.
    """
    from stanchion.protocol.codec import encode
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.results.job_folder import read_results
    from stanchion.runner.results.result_text import result_text

    with translated(as_json=as_json):
        results = read_results(path)
    if as_json:
        click.echo(encode(results[0] if len(results) == 1 else results))
    else:
        click.echo("\n\n".join(result_text(result) for result in results))
