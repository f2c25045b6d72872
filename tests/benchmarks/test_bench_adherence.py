"""Timings of the audit, side by side with two ways of asking Z3. Run by ``make bench``.

All ways classify the same replays in one run, and their answers are asserted to be identical. What
is timed is the process's own time, on one core. The protocol's Z3 terms and its compiled form are
ready before the clock starts. Ours finds witnesses and conflicts besides. No two of the replays
are equal and each run begins with nothing remembered; "nothing remembered" forgets before each
replay what tables found before.
"""

import random
import time

import z3
from tabulate import tabulate

from chaincheck.adherence.audit import audit
from chaincheck.adherence.bitset import TABLE_ATOMS
from chaincheck.adherence.classify import assess, read
from chaincheck.adherence.decode import decode_replay
from chaincheck.adherence.encode import encode_replay
from chaincheck.adherence.formulas import compile_protocol
from chaincheck.adherence.logic import Atom, Const, Op, postorder
from chaincheck.adherence.replay import (
    Annotation,
    AtomDeclaration,
    Constraint,
    Grounding,
    Protocol,
    Recorded,
    Replay,
    Requirement,
    Source,
    Span,
)
from chaincheck.adherence.solving import Limits, Solving

SIZES = (5, 12, 30, 100)
OURS = 3000
THEIRS = 25
PROMISED_RATIO = 100  # ours to push and pop, at 12 atoms
PROMISED_END_TO_END = 2000  # replays a second at 12 atoms
LIMITS = Limits()
TEXT = "Both claims were listed and compared with the passage that was given. Verdict: PASS."


def op(name, *args):
    return Op(name, args)


def protocol(size):
    """A protocol like the book's: claims with readings, steps that build on one another."""
    claims = max(1, size * 2 // 5)
    steps = size - 2 * claims
    judges = [f"j_{i}" for i in range(claims)]
    contexts = [f"c_{i}" for i in range(claims)]
    done = [f"p_{i}" for i in range(steps)]
    roles = [(judges, "judge"), (contexts, "context"), (done, "procedure")]
    return Protocol(
        id=f"bench-{size}/1",
        atoms=tuple(AtomDeclaration(n, role) for names, role in roles for n in names),
        decision=op("and", *map(Atom, judges)),
        constraints=tuple(
            Constraint(f"k{i}", op("implies", Atom(done[i + 1]), Atom(done[i])))
            for i in range(0, steps - 1)
        ),
        requirements=tuple(
            Requirement(
                f"r{i}",
                op("implies", Atom(judges[i % claims]), Atom(name)),
                Atom(done[0]) if i else Const(True),
            )
            for i, name in enumerate(done)
        ),
        grounding=tuple(Grounding(j, c) for j, c in zip(judges, contexts, strict=True)),
    )


def replays(rules, count, seed, unknown=0.15):
    """Distinct replays whose annotations mostly agree with the constraints."""
    rng = random.Random(seed)
    sources = (Source("rationale", "rationale", TEXT), Source("context", "context", TEXT))
    made = []
    for number in range(count):
        steps = rng.random() < 0.9
        annotations = []
        for atom in rules.atoms:
            source = "context" if atom.role == "context" else "rationale"
            evidence = (Span(source, 0, len(TEXT), TEXT),)
            if rng.random() < unknown:
                annotations.append(Annotation(atom.id, "UNKNOWN"))
                continue
            true = (steps or rng.random() < 0.5) if atom.role == "procedure" else rng.random() < 0.8
            annotations.append(Annotation(atom.id, "TRUE" if true else "FALSE", evidence))
        verdict = rng.choice(("PASS", "FAIL"))
        made.append(Replay(f"r{number}", sources, rules, verdict, tuple(annotations)))
    return made


# ----- the other two ways


class Terms:
    """A protocol as Z3 terms."""

    def __init__(self, rules):
        self.atoms = {atom.id: z3.Bool(f"x_{atom.id}") for atom in rules.atoms}
        self.passed = z3.Bool("verdict")
        self.proto = [self.term(c.expr) for c in rules.constraints]
        self.proto.append(self.passed == self.term(rules.decision))
        self.asked = [self.term(r.expr) for r in rules.requirements]
        self.asked += [self.term(r.addressed) for r in rules.requirements if r.addressed]
        self.asked += [self.atoms[p.judge] == self.atoms[p.context] for p in rules.grounding]

    def term(self, expr):
        build = {"not": z3.Not, "and": z3.And, "or": z3.Or, "implies": z3.Implies, "xor": z3.Xor}
        stack = []
        for node in postorder(expr):
            if isinstance(node, Atom):
                stack.append(self.atoms[node.id])
            elif isinstance(node, Const):
                stack.append(z3.BoolVal(node.value))
            else:
                args = [stack.pop() for _ in node.args][::-1]
                stack.append(build[node.op](*args) if node.op != "iff" else args[0] == args[1])
        return stack[0]

    def facts(self, replay):
        return [
            self.atoms[a.atom] if a.value == "TRUE" else z3.Not(self.atoms[a.atom])
            for a in replay.annotations
            if a.value != "UNKNOWN"
        ]

    def verdict(self, replay):
        return self.passed if replay.verdict == "PASS" else z3.Not(self.passed)


def classification(consistent, possible, avoidable):
    if not consistent:
        return "INCONSISTENT"
    if not avoidable:
        return "ENTAILED"
    return "UNDERDETERMINED" if possible else "REFUTED"


def satisfiable(base, *more):
    solver = z3.Solver()
    solver.add(base)
    solver.add(*more)
    return solver.check() == z3.sat


def fresh(terms, replay):
    """A fresh solver for every check."""
    facts = terms.facts(replay)
    joint = terms.proto + facts
    bases = [satisfiable(base) for base in (terms.proto, facts, joint)]

    def ask(base, consistent, query):
        if not consistent:
            return "INCONSISTENT"
        return classification(True, satisfiable(base, query), satisfiable(base, z3.Not(query)))

    answers = [ask(joint, bases[2], terms.verdict(replay))]
    return bases, answers + [ask(facts, bases[1], query) for query in terms.asked]


class PushPop:
    """Three solvers, one for each base, that are kept for all replays."""

    def __init__(self, terms):
        self.terms = terms
        self.proto, self.evid, self.joint = z3.Solver(), z3.Solver(), z3.Solver()
        self.proto.add(terms.proto)
        self.joint.add(terms.proto)

    def __call__(self, replay):
        facts = self.terms.facts(replay)
        for solver in (self.evid, self.joint):
            solver.push()
            solver.add(facts)
        bases = [solver.check() == z3.sat for solver in (self.proto, self.evid, self.joint)]
        answers = [self.ask(self.joint, bases[2], self.terms.verdict(replay))]
        answers += [self.ask(self.evid, bases[1], query) for query in self.terms.asked]
        self.evid.pop()
        self.joint.pop()
        return bases, answers

    def ask(self, solver, consistent, query):
        if not consistent:
            return "INCONSISTENT"
        found = []
        for side in (query, z3.Not(query)):
            solver.push()
            solver.add(side)
            found.append(solver.check() == z3.sat)
            solver.pop()
        return classification(True, *found)


def ours(replay, engine="auto"):
    return audit(replay, engine=engine, explain=False)


def answers(found):
    classes = [found.verdict, *(r.met for r in found.requirements)]
    classes += [r.addressed for r in found.requirements if r.addressed]
    classes += [pair.agree for pair in found.grounding]
    bases = [found.bases[name] == "SAT" for name in ("proto", "evid", "all")]
    return bases, [each.classification for each in classes]


def timed(call, inputs, before=lambda: None):
    """Seconds of this process's own time for each input, the best of three, and the results."""
    best = float("inf")
    for _ in range(3):
        before()
        start = time.process_time()
        results = [call(each) for each in inputs]
        best = min(best, time.process_time() - start)
    return best / len(inputs), results


def measured(size):
    """All ways over the same replays of one size."""
    rules = protocol(size)
    data = replays(rules, OURS, seed=size)
    first = data[:THEIRS]
    compiled = compile_protocol(rules)
    ours(data[-1])
    remembered = compiled.cache["tables", TABLE_ATOMS]

    def statuses(replay):
        solving = Solving(compiled, "auto", LIMITS)
        return assess(solving, read(replay.annotations, compiled.index), replay.verdict)

    def forgetful(replay):
        remembered.clear()
        return ours(replay)

    terms = Terms(rules)
    engine, assessed = timed(statuses, data, remembered.clear)
    whole, found = timed(ours, data, remembered.clear)
    bare, again = timed(forgetful, data)
    explained, _ = timed(audit, data[: THEIRS * 10])
    reference, by_z3 = timed(lambda replay: ours(replay, "z3"), first)
    push_pop, by_push = timed(PushPop(terms), first)
    each_fresh, by_fresh = timed(lambda replay: fresh(terms, replay), first)
    assert by_fresh == by_push == [answers(each) for each in found[:THEIRS]]
    assert by_z3 == found[:THEIRS]
    assert again == found
    assert [each.overall for each in assessed] == [each.overall for each in found]
    return {
        "statuses": 1 / engine,
        "audit": 1 / whole,
        "audit, nothing remembered": 1 / bare,
        "audit, explained": 1 / explained,
        "audit, all by Z3": 1 / reference,
        "push and pop": 1 / push_pop,
        "fresh solvers": 1 / each_fresh,
        "statuses / push and pop": push_pop / engine,
        "audit / push and pop": push_pop / whole,
    }


def test_replays_a_second():
    table = {size: measured(size) for size in SIZES}
    names = list(table[SIZES[0]])
    body = [[name, *(f"{table[size][name]:,.0f}" for size in SIZES)] for name in names]
    heads = ["replays a second; atoms:", *map(str, SIZES)]
    print("\n\nIdentical answers, one core; ours finds witnesses as well\n")
    print(tabulate(body, headers=heads, colalign=("left", *["right"] * len(SIZES))))
    assert table[12]["statuses / push and pop"] > PROMISED_RATIO


def test_replays_a_second_from_their_bytes():
    rows = []
    for size in SIZES:
        rules = protocol(size)
        lines = [encode_replay(Recorded(each)) for each in replays(rules, OURS, seed=size)]
        start = time.process_time()
        for number, line in enumerate(lines):
            audit(decode_replay(line, path="bench.jsonl", line=number).replay, explain=False)
        rate = len(lines) / (time.process_time() - start)
        rows.append([size, f"{sum(map(len, lines)) / len(lines):,.0f}", f"{rate:,.0f}"])
        if size == 12:
            assert rate > PROMISED_END_TO_END
    print("\n\nreplays a second, from a line of JSON to the audit")
    print(tabulate(rows, headers=["atoms", "bytes a line", "replays a second"]))
