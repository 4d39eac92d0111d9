"""The experiments of the paper, with our figures beside the published ones.

`reproduce` runs them and writes tables, figures and a page, as ``python -m lab reproduce`` does.
``docs/reproduce.md`` describes what is measured.
"""

from lab.reproduce.case_study import case_study
from lab.reproduce.run import PARTS, reproduce

__all__ = ["PARTS", "case_study", "reproduce"]
