"""Our own facts: tables, phrasings, and contexts that give no surface cue away."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest

from chaincheck.chains import Chain, Passage
from chaincheck.errors import DuplicateItem, InvalidItem, UnreadableFile, UsageError, WrongSource
from chaincheck.invented import fold, identity_words
from chaincheck.sources import open_source
from chaincheck.sources.facts import FactsSource, facts_summary, load_tables, read_table
from chaincheck.sources.facts.phrasings import (
    PHRASINGS,
    Phrasings,
    coarse,
    load_phrasings,
    surname,
)
from chaincheck.sources.facts.tables import COLUMNS, TABLES

HEADER = ",".join(COLUMNS)
GOOD = "Vertigo,,1958,Alfred Hitchcock,,he,1899,Leytonstone,"


@lru_cache
def chains(world: str = "real", seed: int = 0) -> tuple[Chain, ...]:
    assert world in ("real", "invented")
    found = tuple(FactsSource(world, seed=seed).read())  # type: ignore[arg-type]
    assert all(isinstance(chain, Chain) for chain in found), "every row gives a chain"
    return found  # type: ignore[return-value]


@lru_cache
def phrasings() -> Phrasings:
    return load_phrasings()


def stands(text: str, name: str) -> bool:
    """Written apart from the package's: split into words and look for a run of them."""
    words = re.findall(r"\w+", fold(text))
    wanted = re.findall(r"\w+", fold(name))
    return any(words[i : i + len(wanted)] == wanted for i in range(len(words) - len(wanted) + 1))


@lru_cache
def prose(phrasing: str) -> frozenset[str]:
    """The words of a phrasing apart from its slots."""
    return frozenset(re.findall(r"\w+", fold(re.sub(r"\{\w+\}", " ", phrasing))))


# ---------------------------------------------------------------------------------- tables


def table(folder: Path, *rows: str, name: str = "film_director_birthplace") -> Path:
    path = folder / f"{name}.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return path


def test_enough_facts_over_enough_pairs() -> None:
    summary = facts_summary()
    assert sum(pair.rows for pair in summary) >= 400
    assert len(summary) >= 10
    for pair in summary:
        assert pair.rows >= 25, pair.pair
        assert min(pair.questions, pair.earlier_passages, pair.later_passages) >= 4


def test_every_table_has_phrasings_and_conversely() -> None:
    assert {path.stem for path in TABLES.glob("*.csv")} == set(phrasings().pairs)


def test_a_row_is_read_whole(tmp_path: Path) -> None:
    path = table(tmp_path, '"Oh, Vertigo",Vertigo|V,1958,Alfred Hitchcock,Hitch,he,,Leytonstone,')
    (row,) = read_table(path)
    assert (row.head, row.head_aliases, row.head_year) == ("Oh, Vertigo", ("Vertigo", "V"), 1958)
    assert (row.bridge_aliases, row.bridge_year, row.pronoun) == (("Hitch",), None, "he")
    assert row.line == 2
    assert row.key == "film_director_birthplace/oh,-vertigo"


@pytest.mark.parametrize(
    ("row", "what"),
    [
        (",,1958,Alfred Hitchcock,,he,1899,Leytonstone,", "head is empty"),
        ("Vertigo,,1958,Alfred  Hitchcock,,he,1899,Leytonstone,", "stray blanks"),
        ("Vertigo,,1958,Alfred Hitchcock,,he,1899, Leytonstone,", "stray blanks"),
        ("Vertigo,,1958,Alfred\u200bHitchcock,,he,1899,Leytonstone,", "invisible"),
        ("Vertigo,,c. 1958,Alfred Hitchcock,,he,1899,Leytonstone,", "no year"),
        ("Vertigo,,1958,Alfred Hitchcock,,he,9999,Leytonstone,", "no year"),
        ("Vertigo,,1958,Alfred Hitchcock,,him,1899,Leytonstone,", "bridge_pronoun"),
        ("Vertigo,,1958,Alfred Hitchcock,,,1899,Leytonstone,", "bridge_pronoun"),
        ("Vertigo,Vertigo,1958,Alfred Hitchcock,,he,1899,Leytonstone,", "twice"),
        ("Vertigo,A|A,1958,Alfred Hitchcock,,he,1899,Leytonstone,", "twice"),
        ("Vertigo,A||B,1958,Alfred Hitchcock,,he,1899,Leytonstone,", "empty"),
        ("Vertigo,,1958,Alfred Hitchcock,,he,1899,Leytonstone", "8 cells"),
        ("Vertigo,,1958,Alfred Hitchcock,,he,1899,Leytonstone,,", "10 cells"),
        ("Hitchcock,,1958,Alfred Hitchcock,,he,1899,Leytonstone,", "share the word"),
        ("Vertigo,,1958,Alfred London,,he,1899,London,", "share the word"),
        ("London Calling,,1958,Alfred Hitchcock,,he,1899,London,", "share the word"),
    ],
)
def test_a_broken_row_is_named_with_its_line(tmp_path: Path, row: str, what: str) -> None:
    path = table(tmp_path, "Psycho,,,Jane Doe,,she,,Elsewhere,", row)
    with pytest.raises(InvalidItem, match=what) as error:
        read_table(path)
    assert error.value.line == 3
    assert error.value.remedy


def test_a_head_may_stand_once_and_rows_must_agree(tmp_path: Path) -> None:
    with pytest.raises(DuplicateItem, match="line 2"):
        read_table(table(tmp_path, GOOD, GOOD))
    other = GOOD.replace("Vertigo", "Psycho")
    for change in (("Leytonstone", "Dover"), (",he,", ",she,"), ("1899", "1898")):
        with pytest.raises(InvalidItem, match="line 2"):
            read_table(table(tmp_path, GOOD, other.replace(*change)))
    assert len(read_table(table(tmp_path, GOOD, other))) == 2


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile):
        load_tables(tmp_path)
    with pytest.raises(UnreadableFile):
        load_tables(tmp_path / "missing.csv")
    wrong = tmp_path / "film_director_birthplace.csv"
    wrong.write_text("head,answer\na,b\n", encoding="utf-8")
    with pytest.raises(WrongSource):
        load_tables(wrong)
    wrong.write_bytes(f"{HEADER}\n{GOOD}\n".encode("utf-16"))
    with pytest.raises((UnreadableFile, WrongSource)):
        load_tables(wrong)
    wrong.write_text(f'{HEADER}\n"Vertigo,,1958', encoding="utf-8")
    with pytest.raises(UnreadableFile):
        load_tables(wrong)
    unknown = table(tmp_path, GOOD, name="cheese_maker_valley")
    with pytest.raises(WrongSource, match="phrasings"):
        list(FactsSource().read(unknown))


# ------------------------------------------------------------------------------- phrasings


def test_phrasings_are_passages_of_two_to_four_sentences() -> None:
    for pair in phrasings().pairs.values():
        for phrasing in (*pair.earlier_passages, *pair.later_passages):
            sentences = re.findall(r"[.!?](?: |$)", phrasing.text)
            assert 2 <= len(sentences) <= 4, phrasing.text
            assert phrasing.text.endswith(".")
        for question in pair.questions:
            assert question.text.endswith("?")
            assert not set(question.slots) & {"bridge", "the_bridge", "surname", "answer"}


def test_an_earlier_passage_names_the_bridge_once_in_full_and_never_the_answer() -> None:
    for pair in phrasings().pairs.values():
        counts = {phrasing.mentions for phrasing in pair.earlier_passages}
        assert counts <= {(1, 0), (1, 1)}
        if pair.bridge == "person":
            assert counts == {(1, 0), (1, 1)}
        for phrasing in pair.earlier_passages:
            assert not any("answer" in slot for slot in phrasing.slots)
        for phrasing in pair.later_passages:
            assert not any("head" in slot or "alias" in slot for slot in phrasing.slots)
            assert sum("answer" in slot for slot in phrasing.slots) == 1
        # At least two wordings, in each way of naming, for a row that has no year and no alias.
        plain = [p for p in pair.earlier_passages if not {"year", "alias"} & set(p.slots)]
        for count in counts:
            assert sum(p.mentions in {count, (1, 0)} for p in plain) >= 2


def test_no_article_stands_right_before_a_bridge() -> None:
    # "an Alfred Hitchcock film" would break when the bridge changes.
    for pair in phrasings().pairs.values():
        for phrasing in (*pair.earlier_passages, *pair.later_passages):
            assert not re.search(r"(?i)\b(?:a|an|the) \{(?:bridge|surname|the_)", phrasing.text)


def test_prose_shares_no_word_with_a_bridge() -> None:
    """Or a rename would meet words that are not the name."""
    for chain in (*chains("real"), *chains("invented")):
        pair = phrasings().pairs[chain.source_id.split("/")[1]]
        for phrasing in (*pair.questions, *pair.earlier_passages, *pair.later_passages):
            assert not prose(phrasing.text) & set(identity_words(chain.bridge)), chain.bridge


@pytest.mark.parametrize(
    ("name", "aliases", "expected"),
    [
        ("Alfred Hitchcock", (), "Hitchcock"),
        ("J. K. Rowling", (), "Rowling"),
        ("John C. Bogle", ("Jack Bogle",), "Bogle"),
        ("Frank Lloyd Wright", (), None),
        ("Frank Lloyd Wright", ("Wright",), "Wright"),
        ("Gabriel García Márquez", ("Garcia Marquez",), None),
        ("Vincent van Gogh", (), None),
        ("Zhang Yiming", ("Zhang",), None),
        ("Wang Wei", (), None),
        ("Raphael", (), None),
        ("Henry Ford II", (), None),
        ("Édouard Manet", ("Edouard Manet",), "Manet"),
    ],
)
def test_surname_only_where_it_is_certain(
    name: str, aliases: tuple[str, ...], expected: str | None
) -> None:
    assert surname(name, aliases) == expected


def test_articles_and_sentence_ends() -> None:
    told = phrasings()
    assert told.takes_article("Danube", "river")
    assert told.takes_article("University of Oxford", "university")
    assert not told.takes_article("Yale University", "university")
    assert not told.takes_article("Hagia Sophia", "landmark")
    assert not told.takes_article("The Shard", "building")
    assert told.takes_article("Netherlands", "country")
    pair = told.pairs["play_playwright_birthplace"]
    first = pair.later_passages[0]
    words = dict.fromkeys(first.slots, "x") | {"answer": "Washington, D.C."}
    assert "Washington, D.C. " in (first.fill(words) or "")
    assert first.fill({}) is None
    words["answer"] = "Oops!... I Did It Again"
    assert "Oops!... I Did It Again" in (first.fill(words) or "")


def test_broken_phrasings_are_named(tmp_path: Path) -> None:
    text = PHRASINGS.read_text(encoding="utf-8")
    path = tmp_path / "pairs.toml"
    for old, new, what in (
        ("{bridge} lies on {the_answer}.", "{bridge} lies on {the_river}.", "unknown slot"),
        ('later = "river"', 'later = "lake"', "no phrasings"),
        ('head = "film"', 'head = "flim"', "unknown kind"),
        ('earlier = "director"\n', "", "lacks"),
    ):
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(InvalidItem, match=what):
            load_phrasings(path)
    path.write_text(text + "\n[", encoding="utf-8")
    with pytest.raises(UnreadableFile):
        load_phrasings(path)


# -------------------------------------------------------------------------------- contexts


@pytest.mark.parametrize("world", ["real", "invented"])
def test_contexts_hold_what_they_should(world: str) -> None:
    tables = {row.head: row for row in load_tables()}
    for chain in chains(world):
        assert 6 <= len(chain.passages) <= 8
        assert len({passage.title for passage in chain.passages}) == len(chain.passages)
        earlier = chain.passages[chain.earlier.support]
        later = chain.passages[chain.later.support]
        head = chain.earlier.subject
        assert head is not None
        assert fold(earlier.title) == fold(head)
        assert later.title == chain.bridge
        assert stands(earlier.text, chain.bridge)
        assert stands(later.text, chain.answer)
        assert not stands(earlier.whole, chain.answer)
        assert not stands(later.whole, head)
        assert stands(chain.question, head)
        assert not stands(chain.question, chain.bridge)
        assert not stands(chain.question, chain.answer)
        for place, passage in enumerate(chain.passages):
            if place in (chain.earlier.support, chain.later.support):
                continue
            for word in identity_words(chain.bridge):
                assert not stands(passage.whole, word), (chain.source_id, passage.whole)
            assert not stands(passage.whole, head)
            assert not stands(passage.whole, chain.answer)
        assert chain.kind == coarse(phrasings().pairs[chain.source_id.split("/")[1]].bridge)
        if world == "real":
            assert tables[head].bridge == chain.bridge
            assert tables[head].answer == chain.answer


@pytest.mark.parametrize("world", ["real", "invented"])
def test_dead_ends_are_dead_and_some_distractors_are_whole(world: str) -> None:
    for chain in chains(world):
        titles = {passage.title for passage in chain.passages}
        assert len(chain.decoys) == 2
        for decoy in chain.decoys:
            assert decoy.passage in chain.passages
            assert decoy.relation == chain.earlier.relation
            assert decoy.tail not in titles, "its second hop would be there"
            held = [p for p in chain.passages if stands(p.whole, decoy.tail)]
            assert held == [decoy.passage]
        whole = len(chain.passages) - 2 - len(chain.decoys)
        assert whole in (2, 4)


def test_names_vary_between_the_hops() -> None:
    openings: Counter[str] = Counter()
    for chain in chains():
        if chain.kind != "person":
            continue
        text = chain.passages[chain.later.support].text
        full, last = chain.bridge in text, surname(chain.bridge, chain.bridge_aliases)
        if not full:
            openings["surname" if last and last in text else "pronoun"] += 1
        else:
            openings["full"] += 1
    assert min(openings["surname"], openings["pronoun"], openings["full"]) >= 20, openings


def rename(passage: Passage, pairs: list[tuple[str, str]]) -> str:
    """Replace by exact string, all at once; longer names first."""
    table = dict(pairs)
    names = sorted(table, key=len, reverse=True)
    pattern = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names)
    return re.sub(pattern, lambda match: table[match[0]], passage.whole)


@pytest.mark.parametrize("world", ["real", "invented"])
def test_an_exchange_leaves_no_surface_trace(world: str) -> None:
    """B exchanges the two bridges everywhere, D in the later passage only."""
    close = 0
    for chain in chains(world):
        decoy = chain.decoys[0]
        assert decoy.pronoun == chain.pronoun
        assert decoy.kind == chain.kind
        pairs = [(chain.bridge, decoy.tail), (decoy.tail, chain.bridge)]
        names = [chain.bridge, decoy.tail]
        mine = surname(chain.bridge, chain.bridge_aliases)
        theirs = surname(decoy.tail, decoy.tail_aliases)
        if chain.kind == "person" and mine and theirs:
            pairs += [(mine, theirs), (theirs, mine)]
            names += [mine, theirs]
        edited = [rename(passage, pairs) for passage in chain.passages]
        original = [passage.whole for passage in chain.passages]
        later = chain.later.support
        cell_b = edited
        cell_d = [*original[:later], edited[later], *original[later + 1 :]]
        assert cell_b != cell_d
        for name in names:
            counts_b = [len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", p)) for p in cell_b]
            counts_d = [len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", p)) for p in cell_d]
            assert Counter(counts_b) == Counter(counts_d), (chain.source_id, name)
        lengths_b, lengths_d = sum(map(len, cell_b)), sum(map(len, cell_d))
        assert lengths_b == lengths_d, chain.source_id
        words_b = Counter(re.findall(r"\w+", " ".join(cell_b)))
        words_d = Counter(re.findall(r"\w+", " ".join(cell_d)))
        assert words_b == words_d, chain.source_id
        # In D the decoy's head, not the question's, leads to the later passage.
        assert stands(cell_d[chain.earlier.support], chain.bridge)
        assert stands(cell_b[chain.earlier.support], decoy.tail)
        close += len(chain.bridge.split()) == len(decoy.tail.split())
    assert close >= 0.95 * len(chains(world))


@pytest.mark.parametrize("name", ["facts", "facts-invented"])
def test_the_registry_opens_both_worlds(name: str) -> None:
    source = open_source(name)
    assert source.name == name
    chain = next(iter(source.read(TABLES / "country_capital_river.csv")))
    assert isinstance(chain, Chain)
    assert chain.source == name
    assert chain.source_id.startswith(f"{name}/country_capital_river/")


def test_same_seed_same_chains_other_seed_others() -> None:
    again = tuple(FactsSource(seed=0).read())
    assert again == chains()
    assert tuple(FactsSource(seed=1).read()) != chains()


def test_a_chain_depends_on_its_own_table_only(tmp_path: Path) -> None:
    name = "film_director_birthplace"
    alone = list(FactsSource().read(TABLES / f"{name}.csv"))
    assert alone == [chain for chain in chains() if chain.source_id.split("/")[1] == name]


def test_shape_of_contexts_can_be_set() -> None:
    path = TABLES / "country_capital_river.csv"
    for chain in FactsSource(whole=(0, 0), dead_ends=1).read(path):
        assert isinstance(chain, Chain)
        assert len(chain.passages) == 3
        assert len(chain.decoys) == 1
    with pytest.raises(UsageError):
        FactsSource(whole=(2, 1))
    with pytest.raises(UsageError):
        FactsSource("imaginary")  # type: ignore[arg-type]


def test_a_table_too_small_for_distractors_yields_reasons(tmp_path: Path) -> None:
    found = list(FactsSource().read(table(tmp_path, GOOD)))
    assert [getattr(one, "code", "") for one in found] == ["names-collide"]
    assert getattr(found[0], "line", 0) == 2
