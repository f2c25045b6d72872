"""Judges: everything that scores items, opened by name or by a small TOML file.

A new judge is one new module and one line in ``KINDS``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from chaincheck.errors import ForeignLog, UsageError, quote
from chaincheck.judges.base import Judge, Judgment, fingerprint_of
from chaincheck.judges.causal import KEYS as CAUSAL_KEYS
from chaincheck.judges.causal import open_causal
from chaincheck.judges.cross_encoder import KEYS as CROSS_ENCODER_KEYS
from chaincheck.judges.cross_encoder import open_cross_encoder
from chaincheck.judges.embedding import KEYS as EMBEDDING_KEYS
from chaincheck.judges.embedding import open_embedding
from chaincheck.judges.lexical import CUES, SHORTCUTS, LexicalJudge
from chaincheck.judges.recorded import RecordedScores
from chaincheck.judges.server_settings import KEYS as SERVER_KEYS
from chaincheck.toml_files import nearest, read_toml

__all__ = [
    "CUES",
    "KINDS",
    "NAMED",
    "SHORTCUTS",
    "Judge",
    "Judgment",
    "LexicalJudge",
    "RecordedScores",
    "files_of",
    "fingerprint_of",
    "open_judge",
]

_LONGEST_PATH = 4096
# Of a URL the part before its host, which ends at the last @ before a slash; or a key in its query.
_CREDENTIALS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:[/\\]{2,}(?:[^/\\?#\s]*@"
    r"|\S*[?&](?:api[-_]?key|key|token|access[-_]token|password|passwd|secret|auth)=)",
    re.IGNORECASE,
)


def _lexical(settings: Mapping[str, Any], folder: Path) -> Judge:
    cue = _text(settings, "cue", "lexical")
    if cue not in CUES:
        raise UsageError(f"no lexical judge is called {cue!r}", remedy=nearest(cue, CUES))
    return LexicalJudge(cue)


def _recorded(settings: Mapping[str, Any], folder: Path) -> Judge:
    if "path" not in settings:
        raise UsageError("a recorded judge needs the key 'path'", remedy="Name its score file")
    name = _text(settings, "name", "") or None
    return RecordedScores(folder / _text(settings, "path", ""), name=name)


def _log(settings: Mapping[str, Any], folder: Path) -> Judge:
    from chaincheck.judges.record import RecordedJudge

    given = settings.get("path")
    listed = given if isinstance(given, list) else [given]
    paths = [path for path in listed if isinstance(path, str) and path]
    if not paths or paths != listed:
        raise UsageError(
            "a judge of kind 'log' needs the key 'path', a text or a list of texts",
            remedy='Name its judgment log: path = "log.jsonl"',
        )
    judge = RecordedJudge([folder / path for path in paths])
    wanted = _text(settings, "instrument", judge.fingerprint)
    if wanted != judge.fingerprint:
        raise ForeignLog(
            f"instrument {judge.fingerprint} ({judge.name}) wrote this log, not {quote(wanted)}",
            path=folder / paths[0],
            line=1,
            remedy="Name the log of that instrument, or correct the key 'instrument'",
        )
    return judge


def _server(settings: Mapping[str, Any], folder: Path) -> Judge:
    from chaincheck.judges.server import open_server_judge

    return open_server_judge(settings, folder)


KINDS: Mapping[str, tuple[Callable[[Mapping[str, Any], Path], Judge], frozenset[str]]] = (
    MappingProxyType(
        {
            "causal": (open_causal, CAUSAL_KEYS),
            "cross_encoder": (open_cross_encoder, CROSS_ENCODER_KEYS),
            "embedding": (open_embedding, EMBEDDING_KEYS),
            "lexical": (_lexical, frozenset({"cue"})),
            "log": (_log, frozenset({"path", "instrument"})),
            "recorded": (_recorded, frozenset({"path", "name"})),
            "server": (_server, SERVER_KEYS),
        }
    )
)
"""Each kind of judge: how to open it, and the keys that its TOML file may hold beside ``kind``."""

NAMED: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "minilm": MappingProxyType({"kind": "embedding", "model": "minilm", "name": "minilm"}),
        "smollm2": MappingProxyType({"kind": "causal", "model": "smollm2"}),
    }
)
"""Judges that run a model and can be asked for by name: the keys of the file they stand for."""


def open_judge(spec: str) -> Judge:
    """Open a judge by name or by a TOML file.

    Args:
        spec: "lexical", a shortcut judge's name, a name of ``NAMED``, or the path of a ``.toml``
            file such as ``kind = "recorded"`` and ``path = "scores.jsonl"`` (paths are relative
            to the file).

    Raises:
        UsageError: no such judge, an unknown kind or key (with the nearest known one), or a key
            with an address that holds credentials.
        UnreadableFile: the TOML file is missing or not TOML.
    """
    if spec in CUES:
        return LexicalJudge(spec)
    if spec not in NAMED and not spec.endswith(".toml"):
        raise UsageError(
            f"no judge is called {spec!r}",
            remedy=nearest(spec, {*CUES, *NAMED}) + ", or give the path of a .toml file",
        )
    path = Path(spec)
    settings = dict(NAMED[spec]) if spec in NAMED else read_toml(path)
    _refuse_credentials(settings, spec)
    kind = settings.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise UsageError(
            f"{spec}: the key 'kind' names no kind of judge: {kind!r}",
            remedy=nearest(str(kind), KINDS),
        )
    opener, keys = KINDS[kind]
    for key in settings:
        if key not in keys:
            raise UsageError(
                f"{spec}: unknown key {key!r} for a judge of kind {kind!r}",
                remedy=nearest(key, keys),
            )
    try:
        return opener(settings, path.parent)
    except UsageError as error:
        if spec in NAMED or type(error) is not UsageError:
            raise
        raise UsageError(f"{spec}: {error.problem}", remedy=error.remedy) from None


def files_of(spec: str) -> list[Path]:
    """List the files that a judge is made of, so that none of them is written over.

    Args:
        spec: as for ``open_judge``.

    Returns:
        Its TOML file, and each file that a key of it names: a log, scores, a prompt, what is in
        a model's folder. Nothing for a judge by name.

    Raises:
        UnreadableFile: as ``open_judge``.
    """
    if not spec.endswith(".toml"):
        return []
    path = Path(spec)
    found = [path]
    for value in read_toml(path).values():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and text and len(text) < _LONGEST_PATH:
                found += _files_at(path.parent / Path(text))
    return found


def _files_at(place: Path) -> list[Path]:
    try:
        if place.is_dir():
            return [path for path in place.iterdir() if path.is_file()]
        return [place] if place.is_file() else []
    except (OSError, ValueError):  # a text that is no path
        return []


def _refuse_credentials(value: object, spec: str, key: str = "") -> None:
    """Refuse an address that holds a name or a password, under whatever key; never quote it."""
    if isinstance(value, Mapping):
        for name in value:
            _refuse_credentials(value[name], spec, key or str(name))
    elif isinstance(value, list):
        for one in value:
            _refuse_credentials(one, spec, key)
    elif isinstance(value, str) and _CREDENTIALS.search(value):
        raise UsageError(
            f"{spec}: key {key!r} holds an address with credentials in it",
            remedy="Take it out of the file: a judge's settings are written into its records",
        )


def _text(settings: Mapping[str, Any], key: str, default: str) -> str:
    value = settings.get(key, default)
    if not isinstance(value, str):
        raise UsageError(f"the judge's key {key!r} must be a text, not {value!r}")
    return value
