"""Options that several commands share, and how a command hands over what it found."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from chaincheck.errors import MissingExtra

__all__ = [
    "INPUT",
    "OUTPUT",
    "emit",
    "examples",
    "exchanges_option",
    "json_option",
    "level_option",
    "measuring",
    "number_option",
    "plot_option",
    "tell",
]

_Command = Callable[..., None]
_REFERENCE_COLUMN = "cb_27b_correct"
# More of either changes no digit that is shown, and would fill the memory.
_MOST_DRAWN = 1_000_000


_STDOUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


class _Path(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases only
    """The path of a file or folder: not empty, and no dash where that would name a file.

    Args:
        device: what to name for a standard stream; None where a dash stands for it.
    """

    name = "path"

    def __init__(self, device: str | None) -> None:
        self._device = device

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path as it is, or refuse it."""
        if not value.strip():
            self.fail("a path cannot be empty", param, ctx)
        if value == "-" and self._device is not None:
            self.fail(f"- is no path here; name {self._device}, or ./- for such a file", param, ctx)
        return value


INPUT = _Path("/dev/stdin")
"""Type of an option that names what is read."""
OUTPUT = _Path("/dev/stdout")
"""Type of an option that names what is written."""


def _finite(_context: click.Context, _option: click.Parameter, value: float | None) -> float | None:
    """Refuse NaN, which passes any range, and the infinities."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a finite number.")
    return value


def number_option(
    name: str, low: float | None = None, high: float | None = None, **more: Any
) -> Callable[[_Command], _Command]:
    """Give a command an option that takes a finite number within bounds.

    Args:
        name: the option.
        low: smallest number allowed.
        high: largest number allowed.
        more: what ``click.option`` takes besides.
    """
    bounded = low is not None or high is not None  # else the help would show x<=None
    kind = click.FloatRange(low, high) if bounded else click.FLOAT
    return click.option(name, type=kind, callback=_finite, **more)


def examples(*lines: str) -> str:
    """Text below a command's help: its examples, one a line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


json_option = click.option(
    "--json", "json_path", type=_Path(None), help="Write the results; - for stdout."
)
plot_option = click.option("--plot", type=OUTPUT, help="Draw the results: .svg, .png or .pdf.")
# Beyond these ends the draws are too few to say where an interval ends.
level_option = number_option(
    "--level", 0.5, 0.9999, default=0.95, show_default=True, help="Coverage of an interval."
)
exchanges_option = click.option(
    "--exchanges",
    default=10_000,
    show_default=True,
    type=click.IntRange(1, _MOST_DRAWN),
    help="Random exchanges of the two judges behind each p-value.",
)
_MEASURING = (
    click.option("--data", required=True, multiple=True, type=INPUT, help="Triplet file(s)."),
    click.option(
        "--exclude-cb27b",
        is_flag=True,
        help="Drop triplets the 27B reference answers closed-book.",
    ),
    click.option(
        "--exclude-column",
        multiple=True,
        metavar="COLUMN",
        help="Drop triplets in which this true/false column is true; may be repeated.",
    ),
    click.option(
        "--allow-missing", is_flag=True, help="Drop triplets with a missing score or cell."
    ),
    click.option(
        "--cluster",
        type=click.Choice(["triplet", "question", "bridge"]),
        default="triplet",
        show_default=True,
        help="What is resampled: triplets, questions, or questions that share a bridge.",
    ),
    click.option(
        "--resamples",
        default=2000,
        show_default=True,
        type=click.IntRange(100, _MOST_DRAWN),
        help="Bootstrap resamples behind each interval.",
    ),
    level_option,
    click.option(
        "--seed",
        default=0,
        show_default=True,
        type=click.IntRange(0),
        help="Same seed, same intervals.",
    ),
    json_option,
)


def measuring(function: _Command) -> _Command:
    """Give a command what all that measure score files have in common.

    The command receives ``data`` and ``json_path`` by name, and ``exclude``, ``allow_missing``,
    ``cluster``, ``resamples``, ``level`` and ``seed``, which it hands on as they are.
    """

    @functools.wraps(function)
    def with_columns(
        *, exclude_cb27b: bool, exclude_column: tuple[str, ...], **options: Any
    ) -> None:
        reference = (_REFERENCE_COLUMN,) if exclude_cb27b else ()
        function(exclude=reference + exclude_column, **options)

    command: _Command = with_columns
    for option in reversed(_MEASURING):
        command = option(command)
    return command


def emit(
    to_text: Callable[[], str],
    to_json: Callable[[], str],
    json_path: str | None,
    draw: Callable[[], None] | None = None,
) -> None:
    """Write and draw what was asked for, and print the rest.

    Files appear together, and only if everything else went well, the printing too.

    Args:
        to_text: the result for readers; printed unless the JSON is.
        to_json: the result as JSON.
        json_path: where that goes; "-" prints it and nothing else.
        draw: draws and saves the figure.
    """
    from chaincheck.atomic import together, write_bytes

    with together():
        if json_path and json_path != "-":
            write_bytes(json_path, to_json().encode() + b"\n")
        if draw:
            try:
                draw()
            except ModuleNotFoundError as error:
                if error.name not in {"matplotlib", "seaborn"}:
                    raise
                raise MissingExtra("drawing a figure", "plot") from None
        tell(to_json() if json_path == "-" else to_text(), json_path)


def tell(text: str, out: str | None = None) -> None:
    """Print what a command found: on stdout, or on stderr if what it wrote went to stdout.

    Args:
        text: what to print.
        out: where the command's own output went.
    """
    taken = out is not None and Path(out).absolute().as_posix() in _STDOUT
    click.echo(text, err=taken)
