"""Get the small models that chapters ask, once: a step of ``make book``.

The chapters quote what these models said from a record, so the book does not need them. With them
chapter 4 also asks them anew. What is there already is only looked at::

    python -m chaincheck.book_models smollm2 minilm      # or: make book
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from chaincheck.errors import ChainCheckError, UsageError
from chaincheck.models import MODELS, find_model

__all__ = ["get_models", "main"]

Say = Callable[[str], None]


def get_models(names: Sequence[str], *, say: Say) -> tuple[str, ...]:
    """Bring models into the cache, and do without those that cannot be got.

    Args:
        names: names of ``MODELS``.
        say: is told each step, and what could not be done.

    Returns:
        The models that are there now.

    Raises:
        UsageError: no model has this name.
    """
    for name in names:
        if name not in MODELS:
            raise UsageError(f"no model is called {name!r}", remedy="Known: " + ", ".join(MODELS))
    return tuple(name for name in names if _get(name, say))


def _get(name: str, say: Say) -> bool:
    try:
        find_model(name)
    except ChainCheckError:
        pass  # not there, or damaged: both are mended below
    else:
        return True
    from chaincheck.model_install import install_model

    try:
        install_model(name, say=say)
    except ChainCheckError as error:
        say(
            f"the model {name!r} could not be got: {error}\n"
            f"  The book does without it: its chapters quote {name} from the record, and ask it "
            "nothing anew."
        )
        return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the module's own small command line and return its exit code.

    A model that cannot be got is told and is no failure.
    """
    parser = argparse.ArgumentParser(
        prog="python -m chaincheck.book_models",
        description="Get the small models that the book's chapters ask, unless they are there.",
    )
    parser.add_argument("names", nargs="*", help=", ".join(MODELS) + "; none by default")
    given = parser.parse_args(arguments)

    def say(line: str) -> None:
        print(f"chaincheck: {line}", file=sys.stderr, flush=True)

    try:
        get_models(given.names, say=say)
    except ChainCheckError as error:
        say(f"error: {error}")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
