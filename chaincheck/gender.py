"""Which pronoun a person takes, and which words of a text would clash with another one.

A rename must not make a passage say "she" of a man. The pronoun is read from the person's own
page, from the relation that leads to the person, from titles in the name and, last, from the
given name; where these disagree, nothing is claimed. The word lists are short on purpose: a
person whose pronoun stays unknown costs a triplet, a wrong guess spoils one.
"""

# ruff: noqa: SIM905 - a split string reads better than hundreds of quoted words

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

__all__ = [
    "Pronoun",
    "gendered_words",
    "pronoun_near",
    "pronoun_of_given_name",
    "pronoun_of_name",
    "pronoun_of_page",
    "pronoun_of_relation",
]

Pronoun = Literal["he", "she"]

_PRONOUNS: dict[str, Pronoun] = {
    "he": "he",
    "him": "he",
    "his": "he",
    "himself": "he",
    "she": "she",
    "her": "she",
    "hers": "she",
    "herself": "she",
}
_HE_WORDS = (
    "husband father son brother uncle nephew grandfather grandson stepfather stepson "
    "stepbrother boyfriend widower groom bridegroom godfather fatherinlaw "
    "king prince duke emperor baron viscount marquess earl lord sir mr sultan tsar czar "
    "archduke nobleman maharaja raja shah emir sheikh pope monk friar priest "
    "man boy gentleman businessman sportsman frontiersman cameraman frontman "
    "baronet knight statesman actor-son patriarch god demigod"
)
_SHE_WORDS = (
    "wife mother daughter sister aunt niece grandmother granddaughter stepmother stepdaughter "
    "stepsister girlfriend widow bride godmother motherinlaw "
    "queen princess duchess empress baroness viscountess marchioness countess lady dame mrs "
    "miss ms sultana tsarina archduchess noblewoman maharani rani nun abbess "
    "woman girl businesswoman sportswoman actress heroine goddess matriarch ballerina "
    "heiress hostess poetess sorceress priestess songstress seamstress waitress"
)
_WORDS: dict[str, Pronoun] = {
    **dict.fromkeys(_HE_WORDS.split(), "he"),
    **dict.fromkeys(_SHE_WORDS.split(), "she"),
}
# Words that tell the gender of the very person they stand before ("actress Natalie Wood").
_TITLES_HE = frozenset(
    "king prince duke emperor baron viscount marquess earl lord sir mr sultan tsar czar archduke "
    "husband father son brother uncle nephew grandfather grandson boyfriend pope businessman "
    "maharaja emir sheikh count".split()
)
_TITLES_SHE = frozenset(
    "queen princess duchess empress baroness viscountess marchioness countess lady dame mrs miss "
    "ms sultana tsarina archduchess wife mother daughter sister aunt niece grandmother "
    "granddaughter girlfriend actress businesswoman".split()
)
# After a name in a list of relatives these may well tell of somebody else.
_KIN = frozenset(
    "god husband father son brother uncle nephew grandfather grandson wife mother daughter sister "
    "aunt niece grandmother granddaughter boyfriend girlfriend widow widower man woman boy "
    "girl".split()
)
_RELATIONS: dict[str, Pronoun] = {
    "father": "he",
    "husband": "he",
    "brother": "he",
    "son": "he",
    "paternal grandfather": "he",
    "maternal grandfather": "he",
    "father-in-law": "he",
    "mother": "she",
    "wife": "she",
    "sister": "she",
    "daughter": "she",
    "paternal grandmother": "she",
    "maternal grandmother": "she",
    "mother-in-law": "she",
}
_GIVEN_HE = frozenset(
    """
    aaron abraham adam adrian ajay al alan albert alejandro alex alexander alexei alfonso alfred
    ali allan allen andre andreas andrew andy angelo anthony anton antonio archibald arnold arthur
    august axel barry ben benjamin bernard bert bill billy bob bobby boris brad brandon brendan
    brian bruce bruno bryan carl carlo carlos cecil charles charlie chris christian christoph
    christopher chuck clarence claude claudio clint clive colin craig cyril dale damien dan daniel
    darren dave david davy dean denis dennis denys derek dick diego dimitri dmitri dominic don
    donald doug douglas duncan dustin dwight earl ed eddie edgar edmund eduardo edward edwin eli
    elliott emil enrique eric erich erik ernest ernst ethan eugene ezra federico felipe felix
    ferdinand fernando floyd francesco francis francisco francois frank franklin franz fred
    frederic frederick friedrich gabriel gary gavin gene geoffrey george gerald gerard gerhard
    gilbert giovanni giuseppe glen glenn godfrey gordon graham greg gregory grover guillermo
    gustav guy hal hans harold harry harvey hector heinrich henri henrik henry herbert herman
    horace howard hugh hugo humphrey ian igor ike ingmar isaac ivan jack jacob jacques jake james
    jamie jan jason javier jay jean-luc jeff jefferson jeffrey jeremy jerome jerry jesse jim jimmy
    joe joel joey johan johann john johnny jon jonathan jorge jose josef joseph josh joshua juan
    jules julian julio jurgen karl keith kelvin ken kenneth kenny kevin klaus konrad kris kurt
    lance larry lars laurence lawrence leo leon leonard leopold leslie-howard lewis liam lloyd
    lorenzo louis luc luca lucas ludwig luigi luis luke magnus malcolm manuel marc marcel marco
    marcus mario mark marshall martin marvin mathew matt matthew matthias maurice max maximilian
    mehmed mel michael michel miguel mike mikhail milton mitchell mohammed morris muhammad nathan
    nathaniel ned neil nelson nicholas nick nicolas niels nigel nikolai norman oliver omar orson
    oscar otto owen pablo paolo pascal patrick paul pedro percy pete peter phil philip philippe
    pierre pietro prince rafael ralph ramon randy raul ray raymond reginald rene ricardo richard
    rick robert roberto robin-hood rod rodney roger roland roman ron ronald ross roy rudolf rudolph
    rupert russell ryan salvador sam samuel santiago scott sean sebastian sergei sergio seth
    shawn sidney sigmund simon spencer stan stanley stefan stephen steve steven stewart stuart
    sven ted terence terrence terry theodore thomas tim timothy toby todd tom tommy tony travis
    trevor ulrich umberto vernon victor viktor vincent vincenzo vladimir wallace walt walter warren
    wayne werner wilfred wilhelm will willem william willie winston wolfgang woodrow xavier yuri
    zachary
    """.split()
)
_GIVEN_SHE = frozenset(
    """
    abigail ada adele agatha agnes aileen alice alicia alison amanda amelia amy ana anastasia
    andrea-maria angela angelina anita ann anna anne annette annie antonia ariana astrid audrey
    barbara beatrice bella bernadette bertha beth betty beverly beyonce bindi brenda bridget
    brigitte britney camilla carla carmen carol carole caroline carolyn catherine cecilia celia
    charlotte cheryl chloe christina christine cindy claire clara claudette claudia colleen
    constance cordelia courtney cynthia daisy danielle daphne dawn deborah deirdre delia denise
    diana diane dianne dolly dolores donna dora doris dorothy edith eileen elaine eleanor elena
    elisabeth eliza elizabeth ella ellen elsa emily emma erica erika ernestine esther ethel eugenia
    eunice eva eve evelyn fay felicia fiona flora florence frances freda frida gabriela
    gabrielle geena gemma georgia-may geraldine gertrude gina ginger gisele gladys glenda gloria
    grace greta gwen gwendolyn hannah harriet hazel heather hedy heidi helen helena helene
    henrietta hilary hilda hillary holly ida imogen ingeborg ingrid irene iris irma isabel isabella
    isabelle jane janet janice jean-marie jeanette jeanne jenna jennifer jenny jessica jill joan
    joanna joanne josephine joyce juanita judith judy julia juliana julie juliet juliette june
    karen kate katharine katherine kathleen kathryn kathy katie katrina kay kelly-anne kim-marie
    kirsten kristen kristin lana laura lauren laurel leah lena lesley lila lillian lily linda lisa
    liz lois lola lorraine louisa louise lucia lucille lucy lydia lynda mabel madeleine madonna
    mae maggie mandy marcia margaret margarita margot maria mariah marianne marie marilyn marina
    marion-davies marjorie marlene martha mary matilda maud maureen maya megan melanie melinda
    melissa mercedes meryl mia mildred milla minnie miranda miriam moira molly mona monica muriel
    myra myrna nadia nancy naomi natalia natalie natasha nellie nicole nina nora norah norma
    octavia olga olive olivia ophelia pamela patricia patsy patti paula pauline pearl peggy
    penelope phoebe phyllis priscilla queenie rachel raquel rebecca regina renata rhoda rita
    roberta rosa rosalind rose rosemary roxanne ruby ruth sabrina sally samantha sandra sarah
    scarlett selena selma serena sheila shirley sigourney silvia simone sofia sonia sophia sophie
    stella stephanie sue susan susanna susannah suzanne sybil sylvia tamara tammy tanya tara
    tatiana teresa thelma theresa tiffany tina tracy-ann ursula valerie vanessa vera veronica
    victoria viola violet virginia vivian vivien wanda wendy whitney wilhelmina wilma winifred
    winona yoko yolanda yvette yvonne zoe
    """.split()
)

_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def _words(text: str) -> list[str]:
    words = []
    for match in _TOKEN.finditer(text):
        word = match.group().casefold().replace("’", "'")
        words.append(word.removesuffix("'s").removesuffix("'"))
    return words


def gendered_words(text: str) -> tuple[Pronoun, ...]:
    """Every gendered word of a text, pronouns and nouns alike, as the pronoun it agrees with."""
    both = _PRONOUNS | _WORDS
    return tuple(both[word] for word in _words(text) if word in both)


def pronoun_of_page(text: str) -> Pronoun | None:
    """The pronoun of a page's subject, read from the page.

    The first pronoun must agree with at least three quarters of all, since a page on a woman may
    well end with her husband but seldom begins with him.
    """
    found = [_PRONOUNS[word] for word in _words(text) if word in _PRONOUNS]
    if not found:
        return None
    first = found[0]
    return first if found.count(first) >= 0.75 * len(found) else None


def pronoun_of_relation(relation: str) -> Pronoun | None:
    """The pronoun that a relation implies for what it leads to ("mother" -> "she")."""
    return _RELATIONS.get(relation.strip().casefold())


def pronoun_of_given_name(name: str, *, alone: bool = False) -> Pronoun | None:
    """The pronoun that goes with the first name of ``name``, if that name is in the lists.

    Args:
        name: a name.
        alone: whether a single word may be a given name too; only for what is known to be a
            person, since places and firms bear such names.
    """
    words = _words(name)
    if not words or (len(words) < 2 and not alone):
        return None
    if words[0] in _GIVEN_HE:
        return "he"
    return "she" if words[0] in _GIVEN_SHE else None


def pronoun_of_name(name: str) -> Pronoun | None:
    """The pronoun that a title inside a name gives away ("Queen Victoria", "Sir Robert Peel")."""
    for word in _words(name):
        if word in _TITLES_HE:
            return "he"
        if word in _TITLES_SHE:
            return "she"
    return None


def pronoun_near(name: str, texts: Iterable[str], *, following: bool = False) -> Pronoun | None:
    """The pronoun given away by a word beside ``name``, or by how the next sentence begins.

    "his wife NAME", "actress NAME", "NAME is an American actress", "NAME sang. She ...". Whatever
    is found must be of one gender.

    Args:
        name: the name.
        texts: where to look.
        following: also read the next sentence; only for what is known to be a person.
    """
    found: set[Pronoun] = set()
    pattern = re.compile(
        rf"(?:\b(?P<before>[^\W\d_]+),?\s+)?\b{re.escape(name)}\b"
        r"(?:\s*\([^)]{0,80}\))?(?P<after>,?\s+(?:(?:is|was|an?|the)\s+){1,2}[^.,;]{0,60})?"
    )
    behind = re.compile(rf"\b{re.escape(name)}\b[^.!?\n]{{0,160}}[.!?]\s+(?P<next>He|She)\b")
    for text in texts:
        if following:
            found.update(_PRONOUNS[match["next"].casefold()] for match in behind.finditer(text))
        for match in pattern.finditer(text):
            before = (match.group("before") or "").casefold()
            if before in _TITLES_HE:
                found.add("he")
            elif before in _TITLES_SHE:
                found.add("she")
            for word in _words(match.group("after") or "")[:8]:
                if word in _WORDS and word not in _KIN:
                    found.add(_WORDS[word])
                    break
    return found.pop() if len(found) == 1 else None
