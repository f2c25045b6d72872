"""Four replays that tell being right from following the protocol, and one of a chain.

- A compares both claims with the passage: right, and adherent.
- B is right, and used what it remembered: it breaks a rule of procedure.
- C follows every rule, and says that the passage supports what it does not: an over-claim, wrong.
- D finds a claim unsupported, passes it all the same, and used what it knew: wrong, against its own
  findings and against a rule of procedure.
"""

from __future__ import annotations

from collections.abc import Callable

from chaincheck.adherence.builder import ReplayBuilder
from chaincheck.adherence.protocols import load_protocol
from chaincheck.adherence.replay import Recorded, Value, Verdict

__all__ = ["CASES", "chain_case", "claims_case"]

_PASSAGE = "The Alder Bridge opened in 1931 and crosses the Tarn."
_TRUE_RESPONSE = "The Alder Bridge opened in 1931 and crosses the Tarn."
_OTHER_RESPONSE = "The Alder Bridge opened in 1931 and was designed by Ida Brandt."
_RULES = (
    "List the claims of the response. Compare each with the passage, and use nothing else. "
    "The verdict is PASS exactly when the passage supports every claim."
)


def _claims(
    case: str, verdict: Verdict, gold: Verdict, second: tuple[str, str], rationale: str
) -> ReplayBuilder:
    """Start a replay of a response with two claims."""
    claims = {"opened": "the Alder Bridge opened in 1931", second[0]: second[1]}
    draft = ReplayBuilder(
        f"bridge-{case}", load_protocol("factual-claims/1", claims), verdict=verdict
    )
    draft.source("rules", "protocol", _RULES)
    draft.source("passage", "context", _PASSAGE)
    draft.source("response", "response", _TRUE_RESPONSE if gold == "PASS" else _OTHER_RESPONSE)
    draft.source("rationale", "rationale", rationale)
    draft.annotate("claims_listed", "TRUE", draft.quote("rationale", "Two claims."))
    draft.annotate("claims_checked", "TRUE", draft.whole("rationale"))
    draft.annotate("c_opened", "TRUE", draft.quote("passage", "opened in 1931"))
    return draft


def _read(draft: ReplayBuilder, readings: dict[str, tuple[Value, str]]) -> None:
    for atom, (value, text) in readings.items():
        draft.annotate(atom, value, draft.quote("rationale", text))


def _case_a() -> Recorded:
    draft = _claims(
        "A",
        "PASS",
        "PASS",
        ("crosses", "the Alder Bridge crosses the Tarn"),
        "Two claims. By the passage alone: the year is there, and so is the river. PASS.",
    )
    draft.annotate("c_crosses", "TRUE", draft.quote("passage", "crosses the Tarn"))
    _read(
        draft,
        {
            "j_opened": ("TRUE", "the year is there"),
            "j_crosses": ("TRUE", "so is the river"),
            "external": ("FALSE", "By the passage alone"),
        },
    )
    return draft.build(gold="PASS")


_DESIGNED = ("designed", "the Alder Bridge was designed by Ida Brandt")


def _case_b() -> Recorded:
    draft = _claims(
        "B",
        "FAIL",
        "FAIL",
        _DESIGNED,
        "Two claims. The year is there, and I have read it elsewhere too. The passage names no "
        "designer. FAIL.",
    )
    draft.absent("c_designed")
    _read(
        draft,
        {
            "j_opened": ("TRUE", "The year is there"),
            "j_designed": ("FALSE", "The passage names no designer"),
            "external": ("TRUE", "I have read it elsewhere too"),
        },
    )
    return draft.build(gold="FAIL")


def _case_c() -> Recorded:
    draft = _claims(
        "C",
        "PASS",
        "FAIL",
        _DESIGNED,
        "Two claims. By the passage alone: the year is there, and it names the designer. PASS.",
    )
    draft.absent("c_designed")
    _read(
        draft,
        {
            "j_opened": ("TRUE", "the year is there"),
            "j_designed": ("TRUE", "it names the designer"),
            "external": ("FALSE", "By the passage alone"),
        },
    )
    return draft.build(gold="FAIL")


def _case_d() -> Recorded:
    draft = _claims(
        "D",
        "PASS",
        "FAIL",
        _DESIGNED,
        "Two claims. The year is there. The passage names no designer, but I know that it was "
        "Brandt. PASS.",
    )
    draft.absent("c_designed")
    _read(
        draft,
        {
            "j_opened": ("TRUE", "The year is there"),
            "j_designed": ("FALSE", "The passage names no designer"),
            "external": ("TRUE", "I know that it was Brandt"),
        },
    )
    return draft.build(gold="FAIL")


CASES: dict[str, Callable[[], Recorded]] = {
    "A": _case_a,
    "B": _case_b,
    "C": _case_c,
    "D": _case_d,
}


def claims_case(case: str) -> Recorded:
    """Return one of the four replays.

    Args:
        case: ``A``, ``B``, ``C`` or ``D``.

    Raises:
        KeyError: any other.
    """
    return CASES[case]()


def chain_case() -> Recorded:
    """Return a replay by ``chain-evidence/1s`` in which the second hop is claimed and not there.

    The director of the film is renamed in the passage about his birth, so that nothing says
    where the director was born; the judge quotes that passage all the same.
    """
    draft = ReplayBuilder("chain-D", load_protocol("chain-evidence/1s"), verdict="PASS")
    draft.source("question", "question", "Where was the director of Long Winter born?")
    draft.source("p1", "context", "Long Winter is a film of 2004 directed by Ruth Ames.")
    draft.source("p2", "context", "Vera Lind was born in Bergen — a port — in 1961.")
    draft.source(
        "rationale",
        "rationale",
        '{"hops": [{"hop": 1, "supported": true, "quotes": ["directed by Ruth Ames"]}, '
        '{"hop": 2, "supported": true, "quotes": ["was born in Bergen"]}], '
        '"used_outside_knowledge": false, "verdict": "yes"}',
    )
    first, second = '["directed by Ruth Ames"]', '["was born in Bergen"]'
    readings: dict[str, tuple[Value, str, int | None]] = {
        "j_hop1": ("TRUE", '"supported": true', 1),
        "j_hop2": ("TRUE", '"supported": true', 2),
        "p_cite1": ("TRUE", first, None),
        "p_verb1": ("TRUE", first, None),
        "p_cite2": ("TRUE", second, None),
        "p_verb2": ("TRUE", second, None),
        "p_link": ("FALSE", second, None),
        "p_ext_stated": ("TRUE", '"used_outside_knowledge": false', None),
        "p_ext": ("FALSE", '"used_outside_knowledge": false', None),
    }
    for atom, (value, text, occurrence) in readings.items():
        draft.annotate(atom, value, draft.quote("rationale", text, occurrence), origin="mechanical")
    draft.annotate("p_both", "TRUE", draft.whole("rationale"))
    draft.annotate("c_hop1", "TRUE", draft.quote("p1", "directed by Ruth Ames"))
    draft.absent("c_hop2", explanation="every passage was searched")
    return draft.build(gold="FAIL")
