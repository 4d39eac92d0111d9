"""The experiments of the paper, ours beside the published figures.

`reproduce` runs them and writes tables, figures and a page; ``newfound reproduce`` is the same on
the command line. What is measured is said in ``docs/reproduce.md``.
"""

from newfound.lab.reproduce.case_study import case_study
from newfound.lab.reproduce.run import PARTS, reproduce

__all__ = ["PARTS", "case_study", "reproduce"]
