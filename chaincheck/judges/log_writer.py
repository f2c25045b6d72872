"""A judgment log that grows: one writer, nothing acknowledged is ever lost.

What is promised:

- ``append`` returns when the system has the whole line. A process that is killed at any moment
  (``kill -9``) loses no judgment whose ``append`` has returned.
- ``commit`` returns when everything appended is on the disk, as far as the system's ``fsync``
  says so. A machine that loses its power loses nothing that was committed. What was appended
  since may then be whole, torn or damaged, and is treated as such by whoever opens the log.
- A line that was cut short, by a kill or a full disk in the middle of a write, has no line feed.
  The next writer removes it, and only it, and says so.
- There is one writer at a time (``flock`` on the log itself, which ends with the process that
  holds it). A second one is refused at once and told which process writes. It does not wait: a
  run that begins an hour late without a word is worse than one that says why it cannot begin.
- Lines are only ever added. Another instrument's log is refused before a byte is written.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chaincheck.atomic import sync_folder
from chaincheck.errors import ForeignLog, LogInUse, PathLike, UnwritableOutput, UsageError
from chaincheck.judges.base import Judgment
from chaincheck.judges.log_file import Contents, OpenLog, Torn, check_instrument, load
from chaincheck.judges.log_format import (
    AcquisitionLine,
    Header,
    Line,
    acquisition_hash,
    check_judgment,
    record_of,
    seal,
)

__all__ = ["LogWriter"]


class LogWriter(OpenLog):
    """A log, opened for writing, locked against any other writer until it is closed.

    Args:
        path: the log; made if it does not exist. Its folder must exist.
        header: what a log of the judge at hand begins with.

    Attributes:
        header: the log's header.
        repaired: the torn last line that was removed on opening, if there was one.
        pending: lines appended since the last ``commit``.

    Raises:
        LogInUse: another process is writing it.
        IntegrityError: another instrument wrote it, it is no log, or a line cannot be trusted.
        UnwritableOutput: it cannot be written.
        UsageError: it is to be gzipped, or this system has no locks.
    """

    def __init__(self, path: PathLike, header: Header) -> None:
        descriptor = _open_locked(path)
        try:
            contents = _prepare(path, descriptor, header)
        except BaseException:
            os.close(descriptor)
            raise
        super().__init__(path, descriptor, contents)
        self.header = contents.header or header
        self.repaired: Torn | None = contents.torn
        self.pending = 0
        self._current: str | None = None
        self._stopped: UnwritableOutput | None = None
        self._unsynced: UnwritableOutput | None = None

    def append(self, judgment: Judgment, *, content: str, acquisition: Mapping[str, Any]) -> None:
        """Write a judgment to the log; it is kept from now on, whatever happens to this process.

        Args:
            judgment: what the judge said.
            content: hash of what it judged, see ``content_of``.
            acquisition: how the judgment was got.

        Raises:
            InvalidScore: the judgment cannot be recorded exactly; nothing is written.
            UnwritableOutput: the disk is full or failing; nothing more can be written.
            ValueError: the log already holds a judgment of this content.
        """
        if content in self:
            raise ValueError(f"{self.path} already holds a judgment of content {content}")
        check_judgment(judgment, path=self.path)
        how = acquisition_hash(acquisition)
        previous = self.digest
        sealed: list[tuple[Line, bytes, str]] = []
        if how != self._current:
            first = AcquisitionLine(
                acquisition=how,
                settings=dict(acquisition),
                started=datetime.now(UTC).isoformat(timespec="seconds"),
                previous=previous,
            )
            data, previous = seal(first, path=self.path)
            sealed.append((first, data, previous))
        record = record_of(
            judgment,
            content=content,
            instrument=self.header.fingerprint,
            acquisition=how,
            previous=previous,
        )
        sealed.append((record, *seal(record, path=self.path)))
        self._write(sealed)
        self._current = how

    def commit(self) -> None:
        """Return when everything appended is on the disk.

        Raises:
            UnwritableOutput: it could not be brought there. Nothing more can be written, since
                the system may have dropped what it held.
        """
        if self._unsynced:
            raise self._unsynced
        if not self.pending:
            return
        try:
            os.fsync(self._descriptor)
        except OSError as cause:
            self._unsynced = self._stopped = UnwritableOutput(self.path, cause)
            raise self._unsynced from None
        self.pending = 0

    def close(self) -> None:
        """Commit, let go of the lock and close the file.

        Raises:
            UnwritableOutput: as ``commit``; the file is closed nonetheless.
        """
        if not self._close.alive:
            return
        try:
            if not self._unsynced:
                self.commit()
        finally:
            # A process that was forked meanwhile shares the lock, and would keep it.
            with contextlib.suppress(OSError):
                _unlock(self._descriptor)
            super().close()

    def _write(self, sealed: list[tuple[Line, bytes, str]]) -> None:
        if self._stopped:
            raise self._stopped
        try:
            for line, data, digest in sealed:
                self.pending += 1
                _write_whole(self._descriptor, data)
                self._contents.add(line, digest, len(data), self.path)
        except OSError as cause:
            self._stopped = UnwritableOutput(self.path, cause)
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._contents.end)
            raise self._stopped from None
        except BaseException:
            # Ctrl-C inside a line: what is in the file now is for the next writer to repair.
            self._stopped = UnwritableOutput(self.path, "writing was interrupted")
            raise


def _write_whole(descriptor: int, data: bytes) -> None:
    """Write bytes at the end of a file; the system may take them in several parts."""
    while data:
        data = data[os.write(descriptor, data) :]


def _scan(path: PathLike) -> Contents:
    """Scan a log that nobody else writes."""
    descriptor, contents = load(path)
    os.close(descriptor)
    return contents


def _prepare(path: PathLike, descriptor: int, header: Header) -> Contents:
    """Make a locked file a log that can be written on, or refuse it."""
    contents = _scan(path)
    if contents.header is not None:
        check_instrument(contents.header, header, path=path)
        if contents.torn:
            _change(path, descriptor, contents.end, b"")
        return contents
    first, digest = seal(header, path=path)
    held = Path(path).read_bytes()
    if not first.startswith(held):
        raise ForeignLog(
            "holds the torn first line of another judge's log",
            path=path,
            line=1,
            remedy="Remove the file, or use another log for this judge",
        )
    _change(path, descriptor, 0, first)
    sync_folder(Path(os.path.realpath(path)).parent)
    contents.add(header, digest, len(first), path)
    return contents


def _change(path: PathLike, descriptor: int, end: int, data: bytes) -> None:
    """Cut a file off and write on it, on the disk when this returns."""
    try:
        os.ftruncate(descriptor, end)
        _write_whole(descriptor, data)
        os.fsync(descriptor)
    except OSError as cause:
        raise UnwritableOutput(path, cause) from None


def _open_locked(path: PathLike) -> int:
    """Open a file for appending and lock it, or say who has locked it."""
    try:
        import fcntl
    except ImportError:
        raise UsageError(
            "a judgment log cannot be written on this system, which has no flock",
            remedy="Judge without a log, or read one that was written elsewhere",
        ) from None
    if os.fspath(path).endswith(".gz"):
        raise UsageError(
            f"{os.fspath(path)}: a log that grows cannot be gzipped",
            remedy="Leave out .gz, and pack the log when it is finished",
        )
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
    while True:
        try:
            descriptor = os.open(path, flags, 0o666)
        except (OSError, ValueError) as cause:
            raise UnwritableOutput(
                path, cause if isinstance(cause, OSError) else str(cause)
            ) from None
        try:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                raise UnwritableOutput(path, "it is no regular file")
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Between opening and locking another file may have taken the path.
            if os.path.samestat(state, os.stat(path)):  # noqa: PTH116 - a path of any kind
                return descriptor
        except BlockingIOError:
            holder = _holder(os.fstat(descriptor).st_ino)
            os.close(descriptor)
            raise LogInUse(path, holder) from None
        except FileNotFoundError:
            pass
        except OSError as cause:
            os.close(descriptor)
            raise UnwritableOutput(path, cause) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _unlock(descriptor: int) -> None:
    import fcntl  # there, since the file was locked

    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _holder(inode: int) -> int | None:
    """Find the process that locks a file, where the system lists its locks (Linux)."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for row in Path("/proc/locks").read_text("ascii").splitlines():
            kind, pid, place = (row.split()[number] for number in (1, 4, 5))
            if kind == "FLOCK" and int(place.rpartition(":")[2]) == inode and int(pid) > 0:
                return int(pid)
    return None
