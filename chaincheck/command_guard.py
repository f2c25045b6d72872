"""What surrounds every command: failures become one line and an exit code, signals a clean stop.

A command never ends in a traceback for something that a user can mend: a wrong option, a full
disk behind standard output, a reader of it that went away, Ctrl-C or a request to terminate.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import click

from chaincheck.errors import ChainCheckError, one_line
from chaincheck.pipes import keep_pipes

__all__ = ["guarded"]

_STOPPING = ("SIGTERM", "SIGHUP")
_INTERRUPTED = 128 + signal.SIGINT


class _Stop:
    """Turns a request to terminate into the KeyboardInterrupt that everything cleans up after."""

    code = _INTERRUPTED

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
            # An exception is lost in the import system's callbacks: ask again a moment later.
            again = threading.Timer(0.05, os.kill, (os.getpid(), number))
            again.daemon = True
            again.start()
        elif self.code == _INTERRUPTED:  # a second request must not interrupt the cleaning up
            self.code = 128 + number
            raise KeyboardInterrupt


@contextlib.contextmanager
def _stoppable() -> Iterator[_Stop]:
    """Catch such requests inside the block, unless somebody else handles or ignores them."""
    stop = _Stop()
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for name in _STOPPING:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, stop)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say(text: str) -> None:
    """Print one line on stderr; that it cannot be written changes nothing."""
    with contextlib.suppress(OSError, ValueError):
        click.echo(f"chaincheck: {one_line(text)}", err=True)


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _is_about_stdout(error: OSError) -> bool:
    """Tell whether an error came of printing: it names no file, so its traceback must tell."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(
        frame.f_code is _flush.__code__
        or (frame.f_code is click.echo.__code__ and not frame.f_locals.get("err"))
        for frame in frames
    )


def _give_up_stdout() -> None:
    """Let what waits to be written go nowhere: it would fail once more when Python ends."""
    try:
        _flush()
    except OSError:
        with contextlib.suppress(OSError, io.UnsupportedOperation):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)


def _explain(error: OSError) -> int:
    """Say what an error of the system is about, and return the exit code."""
    reason = error.strerror or str(error)
    if not _is_about_stdout(error):
        where = f"{error.filename}: " if error.filename else ""
        _say(f"error: {where}{reason}")
        return 2
    _give_up_stdout()
    if isinstance(error, BrokenPipeError):
        return 0  # the reader went away (`| head`): not an error of this program
    _say(f"error: standard output: cannot write: {reason}")
    return 2


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    more = f". See {context.command_path} --help" if context is not None else ""
    return f"error: {error.format_message().rstrip('.')}{more}"


def guarded(action: Callable[[], Any]) -> int:
    """Run a command and return its exit code.

    Every failure that is expected becomes one line on stderr. Pipes may be read as often as the
    command needs.

    Args:
        action: the command.
    """
    code = 0
    # What an output's encoding lacks, such as bytes of a file's name, is shown as escapes.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    with _stoppable() as stop:
        try:
            with keep_pipes():
                action()
            _flush()
        except ChainCheckError as error:
            _say(f"error: {error}")
            code = error.exit_code
        except click.exceptions.Exit as end:
            code = end.exit_code
        except click.ClickException as error:
            # Its message is the whole help; releases before 8.2 do not know it.
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()
            else:
                _say(_usage(error))
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            what = "interrupted" if stop.code == _INTERRUPTED else "stopped"
            _say(f"{what}; nothing was left half-written")
            code = stop.code
        except OSError as error:
            code = _explain(error)
    return code
