"""Who imports whom: always downward, found in the source itself, so that nothing has to run.

A room is a package, or a group of modules at the top with one task. What a room may use it may
use through any number of other modules; what it may not use it may not reach through one either.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import pytest

Graph: TypeAlias = Mapping[str, set[str]]

PACKAGE = Path(__file__).resolve().parents[1] / "chaincheck"

# Which other rooms each may use. The modules that stand in no room join them; they may use any,
# and a room may use them as long as it reaches no room through them that it may not use.
ROOMS: dict[str, set[str]] = {
    "sources": set(),
    "adherence": set(),
    "judges": {"sources"},  # a lexical judge knows the words of the book's own facts
    "training": {"judges", "sources"},
    "plots": {"adherence", "judges", "sources", "training"},
    "exercises": {"adherence", "judges", "sources", "training", "plots"},
    "book": set(),
    "cli": {"adherence", "judges", "sources", "training", "plots", "exercises", "book"},
}
GROUPS = ("plots", "exercises", "book", "cli")  # by the beginning of a module's name
# What everything else is made of, and what is measured: it asks no judge and reads no source.
FOUNDATION = (
    *("errors", "atomic", "jsonl", "pipes", "toml_files", "items", "chains", "cells", "scores"),
    *("score_files", "models", "model_folders", "names", "mentions", "intervals", "resampling"),
    *("selectivity", "comparison", "power", "noise", "results", "rationale", "refusals"),
    *("strict_json", "json_faults", "json_positions"),
)
# Steps worded differently are named alike by one vocabulary, which stands with the sources.
VOCABULARY = {("soundness", "sources.relations")}


def imported(path: Path, *, types: bool) -> Iterator[str]:
    """Yield the modules of the package that a file imports, wherever in it, once or more.

    Args:
        path: the file.
        types: whether to include what only type checkers import.
    """
    todo: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and not types and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
            continue
        todo += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: an import that does not say from where"
            yield from (f"{node.module}.{name.name}" for name in node.names)


@lru_cache
def imports(*, types: bool = True) -> Graph:
    """What each module of the package imports of the package; names without ``chaincheck.``."""
    paths = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
        for path in PACKAGE.rglob("*.py")
    }
    found: dict[str, set[str]] = {}
    for module, path in paths.items():
        found[module] = set()
        for name in imported(path, types=types):
            package, _, rest = name.partition(".")
            if package != "chaincheck":
                continue
            while rest not in paths:  # a function of a module, or of the package itself
                rest = rest.rpartition(".")[0] or "__init__"
            if rest != module:
                found[module].add(rest)
    return found


def room_of(module: str) -> str | None:
    head = module.partition(".")[0]
    if head in ROOMS and head not in GROUPS:
        return head
    if head == "__main__":
        return "cli"
    return next((name for name in GROUPS if head == name or head.startswith(f"{name}_")), None)


def way(graph: Graph, start: str, wrong: set[str]) -> list[str] | None:
    """The shortest way by imports from a module into one of some rooms."""
    ways = [[start]]
    seen = {start}
    for taken in ways:
        for module in sorted(graph.get(taken[-1], ())):
            if module in seen:
                continue
            seen.add(module)
            if room_of(module) in wrong:
                return [*taken, module]
            ways.append([*taken, module])
    return None


def upward(graph: Graph) -> list[str]:
    """Spell every way from a room into one that it may not use."""
    graph = {
        module: {name for name in names if (module, name) not in VOCABULARY}
        for module, names in graph.items()
    }
    found = []
    for module in sorted(graph):
        room = room_of(module)
        if room is not None:
            taken = way(graph, module, set(ROOMS) - ROOMS[room] - {room})
            found += [" -> ".join(taken)] if taken else []
    return found


def circles(graph: Graph) -> list[str]:
    """Spell a circle for every module that reaches itself."""
    found = []
    for start in sorted(graph):
        before: dict[str, str] = {}
        todo = [start]
        for module in todo:
            for name in sorted(graph.get(module, ())):
                if name not in before:
                    before[name] = module
                    todo.append(name)
        if start in before:
            taken = [start]
            while len(taken) == 1 or taken[-1] != start:
                taken.append(before[taken[-1]])
            found.append(" -> ".join(reversed(taken)))
    return found


def test_every_room_imports_downward_only() -> None:
    assert upward(imports()) == []


def test_nobody_but_the_command_line_imports_it() -> None:
    found = imports()
    users = {module for module, names in found.items() if any(room_of(n) == "cli" for n in names)}
    assert {room_of(module) for module in users} == {"cli"}


def test_nothing_imports_in_a_circle() -> None:
    assert circles(imports(types=False)) == []


@pytest.mark.parametrize("module", FOUNDATION)
def test_the_foundation_uses_no_room(module: str) -> None:
    found = imports()
    assert module in found
    assert way(found, module, set(ROOMS)) is None


def test_errors_import_nothing_and_items_no_more_than_files() -> None:
    found = imports()
    assert found["errors"] == set()
    reached: set[str] = set()
    todo = ["items"]
    while todo:
        news = found[todo.pop()] - reached
        reached |= news
        todo += news
    assert reached <= {"atomic", "columns", "errors", "jsonl", "pipes"}


def test_the_rooms_are_those_of_the_package() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders <= set(ROOMS), "a new package: say in ROOMS whom it may use"
    used: dict[str | None, set[str]] = defaultdict(set)
    for module in imports():
        used[room_of(module)].add(module)
    assert set(ROOMS) <= set(used)


def planted(*edges: tuple[str, str]) -> dict[str, set[str]]:
    graph = {module: set(names) for module, names in imports().items()}
    for module, name in edges:
        graph.setdefault(module, set()).add(name)
    return graph


@pytest.mark.parametrize(
    "edges",
    [
        [("judges.server", "adherence.decode")],
        [("judges.base", "training.loss")],
        [("judges.base", "cli_audit")],
        [("judges.base", "evaluation"), ("evaluation", "plots")],
        [("adherence.audit", "judges")],
        [("adherence.audit", "between"), ("between", "beside"), ("beside", "judges.base")],
        [("training.run", "adherence.audit")],
        [("sources.musique", "pipeline")],
        [("jsonl", "judges.base")],
        [("plots", "cli_audit")],
        [("book", "sources")],
    ],
)
def test_a_planted_import_is_found(edges: list[tuple[str, str]]) -> None:
    found = upward(planted(*edges))
    assert any(" -> ".join(edges[0]) in line for line in found), found


def test_a_planted_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b -> c -> b", "c -> b -> c"]
    assert circles(planted(("errors", "items")))


def test_imports_are_found_wherever_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        "import chaincheck.a\n"
        "if TYPE_CHECKING:\n    from chaincheck.b import B\nelse:\n    import chaincheck.c\n"
        "def f():\n    from chaincheck import d, e as other\n"
    )
    every = {f"chaincheck.{name}" for name in ("a", "b.B", "c", "d", "e")}
    assert set(imported(path, types=True)) == every
    assert set(imported(path, types=False)) == every - {"chaincheck.b.B"}


def test_the_format_of_a_rationale_is_one_for_judges_and_audits() -> None:
    from chaincheck import rationale as below
    from chaincheck.adherence import rationale as above

    assert above.__all__ == below.__all__
    assert all(getattr(above, name) is getattr(below, name) for name in below.__all__)
