"""Texts that a spreadsheet would evaluate, and texts that it would not.

Both guards follow this list: `newfound.table.guard_formula`, and that of the page.
"""

from __future__ import annotations

GUARDED = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "-",
    " =1",
    "   \t-1",
    "\t1",
    "\n1",
    "\r1",
    "\n",
    "\x00=1",
    "\x1b=1",
    "\x7f=1",
    "\x85=1",
    "\x9b=1",
    "\xa0=1",
    "\xad=1",
    "\u061c=1",
    "\u180e=1",
    "\u200b=1",
    "\u200f\u202e@x",
    "\u2028=1",
    "\u2060+1",
    "\u2066-1",
    "\u3000=1",
    "\ufeff=1",
    "\ufe0f=1",
    "\uff1d1",
    "\uff0b1",
    "\uff0d1",
    "\uff20x",
    "\u200b\uff1d1",
    "=cmd|' /C calc'!A0",
)
KEPT = (
    "",
    "rugby",
    "a=b",
    "1+1",
    "1-1",
    "me@example.org",
    "'=1",
    '"=1"',
    "\u2013 1",
    "\u200brugby",
    " rugby",
    "word\n=1",
    "日本",
)
