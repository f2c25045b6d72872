"""Recorded scores: a score file as a judge, so that any judge at all can be measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from chaincheck.errors import MissingScore, PathLike
from chaincheck.items import Item
from chaincheck.judges.attribution import check_scores, read_attribution
from chaincheck.judges.base import Judgment, fingerprint_of
from chaincheck.score_files import hash_scores, read_scores

__all__ = ["RecordedScores"]


class RecordedScores:
    """The scores of a file, served by item id.

    The fingerprint is the hash of the scores themselves, sorted by item: the scores are all the
    identity there is, and the order of the lines is none. Where a statement beside the file says
    whose they are, it must fit them; the judge that it names stands in the acquisition, for what
    is served by item id alone cannot be held against what that judge read.

    Args:
        path: a score file, one ``{"item_id": ..., "score": number}`` a line.
        name: what to call the judge; the file's name without its endings by default.

    Raises:
        InputError: the file cannot be read, or holds something that is not a score.
        AlteredScores: a statement beside the file says that a judge gave other scores.
    """

    def __init__(self, path: PathLike, name: str | None = None) -> None:
        self._path = path
        self._scores = read_scores(path)
        stated = read_attribution(path)
        self.acquisition: dict[str, Any] = {}
        if stated is not None:
            check_scores(stated, self._scores, path)
            self.acquisition = {
                "recorded from": {"judge": stated.judge, "instrument": stated.fingerprint}
            }
        self.name = name or Path(path).name.split(".")[0]
        self.fingerprint = fingerprint_of(
            {"judge": "recorded", "scores": hash_scores(self._scores)}
        )

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        """Look each item up.

        Raises:
            MissingScore: an item that the file does not hold. It is never given a made-up score.
        """
        for item in items:
            score = self._scores.get(item.item_id)
            if score is None:
                raise MissingScore(
                    "no score is recorded for this item",
                    path=self._path,
                    item=item.item_id,
                    remedy="Score the item, or leave it out of the data",
                )
            yield Judgment(item_id=item.item_id, score=score)
