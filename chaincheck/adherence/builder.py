"""Write a replay in Python: quotes go in, spans come out.

.. code-block:: python

    draft = ReplayBuilder("my-1", load_protocol("chain-evidence/1"), verdict="PASS")
    draft.source("p1", "context", "Jaws was directed by Steven Spielberg.")
    draft.source("rationale", "rationale", "Passage 1 names the director.")
    draft.annotate("j_hop1", "TRUE", draft.quote("rationale", "names the director"))
    draft.absent("c_hop2", explanation="no passage says where he was born")
    recorded = draft.build(gold="FAIL")
"""

from __future__ import annotations

from chaincheck.adherence.decode import decode_replay
from chaincheck.adherence.encode import encode_replay, replay_document
from chaincheck.adherence.replay import (
    Annotation,
    Protocol,
    Recorded,
    Replay,
    Source,
    SourceKind,
    Span,
    Value,
    Verdict,
)
from chaincheck.adherence.spans import occurrences
from chaincheck.errors import UsageError, quote
from chaincheck.refusals import Refusal
from chaincheck.strict_json import refuse_surrogates

__all__ = ["ReplayBuilder", "locate"]

_MOST_SHOWN = 8


def locate(source: Source, text: str, occurrence: int | None = None) -> Span:
    """Find a quote in a source.

    Args:
        source: where to look.
        text: what to look for, verbatim.
        occurrence: which one, from 1, where the quote stands more than once; overlaps count.

    Raises:
        UsageError: the quote is empty, does not stand there, stands there more than once and no
            occurrence is given, or there is no such occurrence.
    """
    if not text:
        raise UsageError("an empty quote shows nothing", remedy="Quote at least one character")
    found = occurrences(source.text, text)
    where = f"in the source {quote(source.id)}"
    if not found:
        raise UsageError(
            f"the quote {quote(text)} does not stand {where}",
            remedy="Copy it from the text as it is: case, spaces and accents count",
        )
    if occurrence is None and len(found) > 1:
        places = ", ".join(str(at) for at in found[:_MOST_SHOWN])
        more = ", …" if len(found) > _MOST_SHOWN else ""
        raise UsageError(
            f"the quote {quote(text)} stands {len(found)} times {where}, at {places}{more}",
            remedy=f"Quote more of the text, or say which occurrence is meant, 1 to {len(found)}",
        )
    if occurrence is not None and not 1 <= occurrence <= len(found):
        raise UsageError(
            f"there is no occurrence {occurrence} of {quote(text)} {where}: it stands there "
            f"{len(found)} times",
            remedy="Occurrences are counted from 1",
        )
    start = found[(occurrence or 1) - 1]
    return Span(source.id, start, start + len(text), text)


class ReplayBuilder:
    """Collects the texts and readings of one replay.

    Args:
        replay_id: the replay's name.
        protocol: the rules.
        verdict: what the judge said.
        translation_status: ``valid``, or why the protocol could not be translated.
    """

    def __init__(
        self,
        replay_id: str,
        protocol: Protocol,
        *,
        verdict: Verdict,
        translation_status: str = "valid",
    ) -> None:
        self._id = replay_id
        self._protocol = protocol
        self._verdict: Verdict = verdict
        self._status = translation_status
        self._sources: dict[str, Source] = {}
        self._annotations: list[Annotation] = []

    def source(self, name: str, kind: SourceKind, text: str) -> None:
        """Add a text.

        Raises:
            UsageError: there is a source of that name.
        """
        if name in self._sources:
            raise UsageError(f"there is a source {quote(name)} already", remedy="Use another name")
        self._sources[name] = Source(name, kind, text)

    def quote(self, source: str, text: str, occurrence: int | None = None) -> Span:
        """Find a quote; as :func:`locate`.

        Raises:
            UsageError: there is no such source, or as :func:`locate`.
        """
        return locate(self._source(source), text, occurrence)

    def whole(self, source: str) -> Span:
        """Quote a text from its beginning to its end.

        Raises:
            UsageError: there is no such source.
        """
        found = self._source(source)
        return Span(source, 0, len(found.text), found.text)

    def annotate(
        self, atom: str, value: Value, *evidence: Span, explanation: str = "", origin: str = ""
    ) -> None:
        """Add somebody's reading of an atom."""
        self._annotations.append(Annotation(atom, value, evidence, explanation, origin))

    def absent(self, atom: str, *, explanation: str = "", origin: str = "") -> None:
        """Read a context atom as FALSE: every context text, as a whole, is the evidence."""
        searched = [self.whole(one.id) for one in self._sources.values() if one.kind == "context"]
        evidence = [span for span in searched if span.quote]
        self.annotate(atom, "FALSE", *evidence, explanation=explanation, origin=origin)

    def unknown(self, atom: str, *, explanation: str = "", origin: str = "") -> None:
        """Say that an atom was looked for and not settled."""
        self.annotate(atom, "UNKNOWN", explanation=explanation, origin=origin)

    def unread(self) -> tuple[str, ...]:
        """The atoms that have no annotation yet, in the order of declaration."""
        read = {annotation.atom for annotation in self._annotations}
        return tuple(atom.id for atom in self._protocol.atoms if atom.id not in read)

    def build(self, *, gold: Verdict | None = None) -> Recorded:
        """Return the replay, checked as one from a file is.

        Raises:
            InvalidReplay: it breaks a rule; ``code`` and ``json_path`` say which and where.
        """
        replay = Replay(
            id=self._id,
            sources=tuple(self._sources.values()),
            protocol=self._protocol,
            verdict=self._verdict,
            annotations=tuple(self._annotations),
            translation_status=self._status,
        )
        where = f"replay {quote(self._id)}"
        recorded = Recorded(replay, gold)
        try:
            raw = encode_replay(recorded)
        except UnicodeEncodeError:
            try:
                refuse_surrogates(replay_document(recorded))
            except Refusal as refusal:
                raise refusal.of_file(where) from None
            raise
        return decode_replay(raw, path=where)

    def _source(self, name: str) -> Source:
        if name not in self._sources:
            known = ", ".join(self._sources) or "none yet"
            raise UsageError(
                f"there is no source {quote(name)}", remedy=f"The sources are: {known}"
            )
        return self._sources[name]
