"""Random replays as JSON objects, and the package's values made of them without its decoder."""

import random

import oracles_adherence as oracle

from chaincheck.adherence.logic import Atom, Const, Op
from chaincheck.adherence.replay import (
    Annotation,
    AtomDeclaration,
    Constraint,
    Grounding,
    Protocol,
    Replay,
    Requirement,
)

KINDS = ("plain", "contradictory", "unknown-heavy", "dense", "partial", "adherent")
ROLES = ("judge", "context", "procedure")


def formula(rng: random.Random, atoms, depth, constants=0.05):
    """A random expression over ``atoms``, nested at most ``depth`` deep."""
    if depth == 0 or rng.random() < 0.2:
        if rng.random() < constants:
            return {"const": rng.random() < 0.5}
        return {"atom": rng.choice(atoms)}
    op = rng.choice(("not", "and", "or", "implies", "iff", "xor", "and", "or"))
    count = {"not": 1, "and": rng.randint(1, 4), "or": rng.randint(1, 4)}.get(op, 2)
    return {"op": op, "args": [formula(rng, atoms, depth - 1, constants) for _ in range(count)]}


def replay(rng: random.Random, size: int, kind: str = "plain"):
    """A random replay with ``size`` atoms.

    ``contradictory`` plants contradictions between annotations and in constraints,
    ``unknown-heavy`` leaves most atoms open, ``dense`` has many constraints, ``partial`` may lack
    requirements, coverage or pairs, ``adherent`` obeys its protocol as far as it is annotated.
    """
    roles = [ROLES[i % 3] if i < 3 else rng.choice(ROLES) for i in range(size)]
    # The order of declaration has nothing to do with the order of ids.
    names = [f"{role[0]}{i}" for i, role in enumerate(roles)]
    rng.shuffle(names)
    atoms = [{"id": n, "role": {r[0]: r for r in ROLES}[n[0]]} for n in names]
    judges = [n for n in names if n[0] == "j"]
    contexts = [n for n in names if n[0] == "c"]
    many = {"dense": rng.randint(size // 2, 2 * size)}.get(kind, rng.randint(0, 3))
    constraints = [formula(rng, names, 2) for _ in range(many)]
    if kind == "dense":
        # Mostly satisfiable: a clause forbids one of eight ways at random.
        constraints = [
            {"op": "or", "args": [_literal(rng, n) for n in rng.sample(names, min(3, size))]}
            for _ in range(many)
        ]
    if kind == "contradictory" and rng.random() < 0.3:
        name = rng.choice(names)
        constraints += [{"atom": name}, {"op": "not", "args": [{"atom": name}]}]
        rng.shuffle(constraints)
    requirements = []
    for i in range(rng.randint(0 if kind == "partial" else 1, 4)):
        one = {"id": f"r{i}", "expr": formula(rng, names, 2)}
        if rng.random() < (0.4 if kind == "partial" else 0.8):
            one["addressed"] = formula(rng, names, 1, constants=0.3)
        requirements.append(one)
    pairs = rng.randint(0 if kind == "partial" else 1, 3)
    unknown = {"unknown-heavy": 0.75, "dense": rng.choice((0.2, 0.6, 1))}.get(kind, 0.2)
    annotations = []
    for name in rng.sample(names, size):
        if rng.random() < unknown:
            if rng.random() < 0.5:
                annotations.append({"atom": name, "value": "UNKNOWN"})
            continue
        annotations.append({"atom": name, "value": rng.choice(("TRUE", "FALSE"))})
        if rng.random() < (0.15 if kind == "contradictory" else 0.02):
            again = rng.choice(("TRUE", "FALSE", "UNKNOWN"))
            annotations.append({"atom": name, "value": again})
    rng.shuffle(annotations)
    pairs = [(rng.choice(judges), rng.choice(contexts)) for _ in range(pairs)]
    decision = formula(rng, judges if rng.random() < 0.7 else names, 2)
    verdict = rng.choice(("PASS", "FAIL"))
    if kind == "adherent":
        world = {name: rng.random() < 0.5 for name in names}
        pairs = pairs[:1]
        world[pairs[0][0]] = world[pairs[0][1]]
        constraints = [_made_true(expr, world) for expr in constraints]
        for one in requirements:
            one["expr"] = _made_true(one["expr"], world)
            if "addressed" in one:
                one["addressed"] = _made_true(one["addressed"], world)
        verdict = "PASS" if _truth(decision, world) else "FAIL"
        hidden = rng.choice((0, 0.1, 0.3))
        annotations = [
            {"atom": name, "value": "TRUE" if world[name] else "FALSE"}
            for name in rng.sample(names, size)
            if rng.random() >= hidden
        ]
    return {
        "id": f"{kind}-{rng.random()}",
        "translation_status": "valid",
        "protocol": {
            "id": "random/1",
            "atoms": atoms,
            "constraints": [{"id": f"k{i}", "expr": e} for i, e in enumerate(constraints)],
            "decision": decision,
            "requirements": requirements,
            "grounding": [{"judge": judge, "context": context} for judge, context in pairs],
        },
        "verdict": verdict,
        "annotations": annotations,
    }


def _truth(expr, world):
    return bool(oracle.truth(expr, world))


def _made_true(expr, world):
    return expr if _truth(expr, world) else oracle.negation(expr)


def _literal(rng, name):
    return {"atom": name} if rng.random() < 0.5 else {"op": "not", "args": [{"atom": name}]}


def large(rng: random.Random, size: int = 100, block: int = 5, unknown: float = 0.4):
    """A replay with many atoms whose constraints stay within blocks of neighbors."""
    found = replay(rng, size, "partial" if rng.random() < 0.2 else "plain")
    names = [a["id"] for a in found["protocol"]["atoms"]]
    blocks = [names[i : i + block] for i in range(0, size, block)]
    constraints = []
    for members in blocks:
        constraints += [formula(rng, members, 2, constants=0) for _ in range(rng.randint(0, 2))]
    near = blocks[0] + blocks[1]
    protocol = found["protocol"]
    protocol["constraints"] = [{"id": f"k{i}", "expr": e} for i, e in enumerate(constraints)]
    protocol["decision"] = formula(rng, near, 3)
    protocol["requirements"] = [
        {"id": f"r{i}", "expr": formula(rng, rng.choice(blocks), 2), "addressed": {"const": True}}
        for i in range(12)
    ]
    found["annotations"] = [
        {"atom": name, "value": rng.choice(("TRUE", "FALSE"))}
        for name in names
        if rng.random() > unknown
    ]
    return found


def expression(value):
    if "atom" in value:
        return Atom(value["atom"])
    if "const" in value:
        return Const(value["const"])
    return Op(value["op"], tuple(expression(arg) for arg in value["args"]))


def protocol_of(value) -> Protocol:
    return Protocol(
        id=value["id"],
        atoms=tuple(AtomDeclaration(a["id"], a["role"]) for a in value["atoms"]),
        decision=expression(value["decision"]),
        constraints=tuple(Constraint(c["id"], expression(c["expr"])) for c in value["constraints"]),
        requirements=tuple(
            Requirement(
                r["id"],
                expression(r["expr"]),
                expression(r["addressed"]) if r.get("addressed") else None,
            )
            for r in value["requirements"]
        ),
        grounding=tuple(Grounding(p["judge"], p["context"]) for p in value["grounding"]),
    )


def replay_of(value, protocol: Protocol | None = None) -> Replay:
    return Replay(
        id=value["id"],
        sources=(),
        protocol=protocol or protocol_of(value["protocol"]),
        verdict=value["verdict"],
        annotations=tuple(Annotation(a["atom"], a["value"]) for a in value["annotations"]),
        translation_status=value["translation_status"],
    )
