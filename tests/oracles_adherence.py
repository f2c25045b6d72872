"""A second, slow way to every result of an audit: whole truth tables, row by row.

Written from the definitions, apart from the package, which it never imports. It reads replays as
the JSON objects that stand in files. A table has one row for each assignment of the open atoms, in
lexicographic order: FALSE before TRUE, the atom that is declared first changing last.
"""

from itertools import combinations, product

import numpy as np

LARGEST = 18  # open atoms of one table


def atoms_in(expr):
    if "atom" in expr:
        return {expr["atom"]}
    found = set()
    for arg in expr.get("args", ()):
        found |= atoms_in(arg)
    return found


def truth(expr, values):
    """The truth of an expression where ``values`` gives each atom a bool or a column of them."""
    if "atom" in expr:
        return values[expr["atom"]]
    if "const" in expr:
        return np.bool_(expr["const"])
    op, args = expr["op"], [truth(arg, values) for arg in expr["args"]]
    if op in {"and", "or"}:
        result = np.bool_(op == "and")
        for arg in args:
            result = np.logical_and(result, arg) if op == "and" else np.logical_or(result, arg)
    elif op == "not":
        result = np.logical_not(args[0])
    elif op == "implies":
        result = np.logical_or(np.logical_not(args[0]), args[1])
    else:
        result = np.equal(args[0], args[1]) if op == "iff" else np.not_equal(args[0], args[1])
    return result


def rows(atoms):
    """Every assignment of ``atoms`` as columns; row 0 has all FALSE."""
    count = len(atoms)
    number = np.arange(2**count)
    return {atom: (number >> (count - 1 - i)) % 2 == 1 for i, atom in enumerate(atoms)}


def negation(expr):
    return {"op": "not", "args": [expr]}


class Base:
    """Expressions that hold together with facts."""

    def __init__(self, order, exprs, facts):
        self.order, self.exprs, self.facts = order, list(exprs), facts

    def parts(self):
        """The expressions in groups that share no open atom; each with its open atoms."""
        groups = []
        for expr in self.exprs:
            atoms, members = atoms_in(expr) - set(self.facts), [expr]
            apart = []
            for other_atoms, other_members in groups:
                if atoms & other_atoms:
                    atoms, members = atoms | other_atoms, other_members + members
                else:
                    apart.append((other_atoms, other_members))
            groups = [*apart, (atoms, members)]
        return [([a for a in self.order if a in atoms], members) for atoms, members in groups]

    def table(self, open_atoms, exprs):
        assert len(open_atoms) <= LARGEST
        values = {**rows(open_atoms), **{a: np.bool_(v) for a, v in self.facts.items()}}
        holds = np.ones(2 ** len(open_atoms), dtype=bool)
        for expr in exprs:
            holds &= truth(expr, values)
        return holds

    def first_model(self):
        """The first model, of the open atoms that occur; None where there is none."""
        model = {}
        for open_atoms, exprs in self.parts():
            found = np.flatnonzero(self.table(open_atoms, exprs))
            if not len(found):
                return None
            row = int(found[0])
            for place, atom in enumerate(reversed(open_atoms)):
                model[atom] = bool(row >> place & 1)
        return model

    def consistent(self):
        return self.first_model() is not None


def literals(annotations):
    return [(i, a["atom"], a["value"] == "TRUE") for i, a in enumerate(annotations)
            if a["value"] != "UNKNOWN"]  # fmt: skip


def classify(base, query):
    """ENTAILED and so on, with the first model of each side where both have one."""
    if not base.consistent():
        return "INCONSISTENT", None, None
    yes = Base(base.order, [*base.exprs, query], base.facts).first_model()
    no = Base(base.order, [*base.exprs, negation(query)], base.facts).first_model()
    if no is None:
        return "ENTAILED", None, None
    if yes is None:
        return "REFUTED", None, None
    shown = set().union(*(atoms_in(e) for e in [*base.exprs, query]))

    def witness(model):
        values = {a: base.facts.get(a, model.get(a)) for a in base.order if a in shown}
        return values, tuple(a for a in values if a not in base.facts)

    return "UNDERDETERMINED", witness(yes), witness(no)


def worst(statuses):
    statuses = list(statuses)
    return next((s for s in ("VIOLATED", "UNKNOWN", "SATISFIED") if s in statuses), "NOT_SPECIFIED")


DETAIL = {
    "ENTAILED": "observable_undetermined",
    "REFUTED": "not_observable",
    "UNDERDETERMINED": "coverage_undetermined",
}


def audit(replay):
    """Everything but conflicts, settling sets and flips."""
    protocol = replay["protocol"]
    order = [a["id"] for a in protocol["atoms"]]
    constraints = [c["expr"] for c in protocol["constraints"]]
    said = literals(replay["annotations"])
    facts = {atom: value for _, atom, value in said}
    clash = {a for _, a, v in said if (a, not v) in {(b, w) for _, b, w in said}}
    bases = {"proto": "SAT" if Base(order, constraints, {}).consistent() else "UNSAT"}
    bases["evid"] = "UNSAT" if clash else "SAT"
    joint = Base(order, constraints, facts)
    bases["all"] = "SAT" if not clash and joint.consistent() else "UNSAT"
    decision = protocol["decision"]
    query = decision if replay["verdict"] == "PASS" else negation(decision)
    dead = ("INCONSISTENT", None, None)
    verdict = classify(joint, query) if bases["all"] == "SAT" else dead

    def ask(expr):
        return dead if clash else classify(Base(order, [], facts), expr)

    plain = {"ENTAILED": "SATISFIED", "REFUTED": "VIOLATED"}
    procedure, coverage, details, warnings = [], [], [], []
    for requirement in protocol["requirements"]:
        met = ask(requirement["expr"])
        seen = ask(requirement["addressed"]) if requirement.get("addressed") else None
        procedure.append(met)
        coverage.append(seen)
        both = seen is not None and met[0] == "UNDERDETERMINED"
        details.append(DETAIL.get(seen[0]) if both else None)
        if seen is not None and met[0] == seen[0] == "REFUTED":
            warnings.append(requirement["id"])
    grounding, mismatches = [], []
    for pair in protocol["grounding"]:
        judge, context = {"atom": pair["judge"]}, {"atom": pair["context"]}
        grounding.append(ask({"op": "iff", "args": [judge, context]}))
        mismatch = None
        if grounding[-1][0] == "REFUTED":
            mismatch = "over_claim" if facts[pair["judge"]] else "under_claim"
        mismatches.append(mismatch)
    named = {each["atom"] for each in replay["annotations"]}
    dimensions = {
        "verdict": plain.get(verdict[0], "UNKNOWN"),
        "procedure": worst(plain.get(m[0], "UNKNOWN") for m in procedure),
        "coverage": worst(
            "SATISFIED" if c[0] == "ENTAILED" else "UNKNOWN" for c in coverage if c is not None
        ),
        "grounding": worst(plain.get(g[0], "UNKNOWN") for g in grounding),
    }
    overall = worst(dimensions.values())
    if overall == "SATISFIED" and not (procedure and grounding):
        overall = "UNKNOWN"
    if "UNSAT" in bases.values():
        overall = "UNKNOWN"
    return {
        "bases": bases, "verdict": verdict, "procedure": procedure, "coverage": coverage,
        "grounding": grounding, "details": details, "conflicting_coverage": warnings,
        "mismatches": mismatches, "dimensions": dimensions, "overall": overall,
        "unannotated": tuple(a for a in order if a not in named),
    }  # fmt: skip


# ----- conflicts


def contradictory(order, constraints, said):
    facts = {}
    for _, atom, value in said:
        if facts.setdefault(atom, value) != value:
            return True
    return not Base(order, constraints, facts).consistent()


def first_smallest_conflict(replay, base):
    """Every set of members in order of size, constraints first: the first that contradicts.

    Annotations stand in the order of their atoms, FALSE before TRUE; of equal ones the first.
    """
    order = [a["id"] for a in replay["protocol"]["atoms"]]
    constraints = replay["protocol"]["constraints"] if base != "evid" else []
    said = literals(replay["annotations"]) if base != "proto" else []
    said.sort(key=lambda one: (order.index(one[1]), one[2], one[0]))
    members = [("constraint", c) for c in constraints] + [("annotation", a) for a in said]
    for size in range(1, len(members) + 1):
        for chosen in combinations(members, size):
            exprs = [c["expr"] for kind, c in chosen if kind == "constraint"]
            if contradictory(order, exprs, [a for kind, a in chosen if kind == "annotation"]):
                return (
                    tuple(c["id"] for kind, c in chosen if kind == "constraint"),
                    tuple(a[0] for kind, a in chosen if kind == "annotation"),
                )
    return None


# ----- settling sets


def first_smallest_settling_set(replay):
    """The first smallest set of open atoms on which the decision depends alone; and the needed.

    Only for a replay whose base ``all`` is consistent.
    """
    protocol = replay["protocol"]
    order = [a["id"] for a in protocol["atoms"]]
    exprs = [c["expr"] for c in protocol["constraints"]]
    facts = {atom: value for _, atom, value in literals(replay["annotations"])}
    decision = protocol["decision"]
    whole = Base(order, [*exprs, decision], facts)
    # What no chain of open atoms links to the decision is satisfiable apart from it.
    [(open_atoms, linked)] = [part for part in whole.parts() if any(e is decision for e in part[1])]
    holds = whole.table(open_atoms, [e for e in linked if e is not decision])
    decided = whole.table(open_atoms, [decision])
    columns = rows(open_atoms)

    def settles(chosen):
        code = np.zeros(len(holds), dtype=int)
        for atom in chosen:
            code = code * 2 + columns[atom]
        return not set(code[holds & decided]) & set(code[holds & ~decided])

    needed = tuple(a for a in open_atoms if not settles([b for b in open_atoms if b != a]))
    for size in range(len(open_atoms) + 1):
        for chosen in combinations(open_atoms, size):
            if settles(chosen):
                return chosen, needed
    raise AssertionError("all open atoms together settle the verdict")


# ----- flips


class Statuses:
    """The overall status of every reading of one protocol, from one table over all atoms."""

    def __init__(self, protocol):
        self.order = [a["id"] for a in protocol["atoms"]]
        self.columns = rows(self.order)

        def column(expr):
            return np.broadcast_to(truth(expr, self.columns), (2 ** len(self.order),))

        self.allowed = column({"op": "and", "args": [{"const": True}]}).copy()
        for constraint in protocol["constraints"]:
            self.allowed &= column(constraint["expr"])
        self.decision = column(protocol["decision"])
        self.requirements = [column(r["expr"]) for r in protocol["requirements"]]
        self.addressed = [
            column(r["addressed"]) for r in protocol["requirements"] if r.get("addressed")
        ]
        self.pairs = [
            self.columns[p["judge"]] == self.columns[p["context"]] for p in protocol["grounding"]
        ]

    def overall(self, said, verdict):
        facts = np.ones(2 ** len(self.order), dtype=bool)
        for _, atom, value in said:
            facts &= self.columns[atom] == value
        joint = facts & self.allowed
        if not joint.any():
            return "UNKNOWN"
        follows = self.decision if verdict == "PASS" else ~self.decision

        def status(base, question):
            asked = question[base]
            return "SATISFIED" if asked.all() else "UNKNOWN" if asked.any() else "VIOLATED"

        found = [status(joint, follows)]
        found += [status(facts, r) for r in self.requirements]
        found += ["SATISFIED" if a[facts].all() else "UNKNOWN" for a in self.addressed]
        found += [status(facts, p) for p in self.pairs]
        if not self.requirements or not self.pairs:
            found.append("UNKNOWN")
        return worst(found)


def first_smallest_flips(replay, most):
    """The first smallest set of annotations whose flips change the overall status, and to what."""
    statuses = Statuses(replay["protocol"])
    said = literals(replay["annotations"])
    now = statuses.overall(said, replay["verdict"])
    for size in range(1, min(most, len(said)) + 1):
        for chosen in combinations(range(len(said)), size):
            after = [(i, a, v != (n in chosen)) for n, (i, a, v) in enumerate(said)]
            then = statuses.overall(after, replay["verdict"])
            if then != now:
                return tuple(said[n][0] for n in chosen), then
    return None


def partial_assignments(atoms):
    """Every way to have each atom TRUE, FALSE or unannotated."""
    for values in product((None, False, True), repeat=len(atoms)):
        yield {a: v for a, v in zip(atoms, values, strict=True) if v is not None}
