"""Rules to read: one record, one way to print it; `newfound.machine.clauses` matches them.

The *side* of a clause is what it votes for: *known* for a clause that votes for Known or against
Novel, *novel* for the other two. A plain word of a clause has the *role* of the clause's side, a
negated word that of the other side. The bags B_K and B_N hold one entry for each clause and word
in the role known and in the role novel.
"""

from newfound.rules.rule import Clause, Rule
from newfound.rules.selection import LISTED_Q, ReadableRule, readable_rules
from newfound.rules.table import ClauseTable

__all__ = [
    "LISTED_Q",
    "Clause",
    "ClauseTable",
    "ReadableRule",
    "Rule",
    "readable_rules",
]
