"""Our own facts: two-hop chains over widely known entities, and over invented ones.

The tables are data (CC0, see ``tables/README.md``); the sentences around them are in
``pairs.toml``. :class:`FactsSource` tells them as chains, with no download.
"""

from chaincheck.sources.facts.reader import (
    FactsSource,
    PairSummary,
    facts_summary,
    invented_facts,
)
from chaincheck.sources.facts.tables import Row, load_tables, read_table

__all__ = [
    "FactsSource",
    "PairSummary",
    "Row",
    "facts_summary",
    "invented_facts",
    "load_tables",
    "read_table",
]
