"""The experiments of the paper, with our figures beside the published ones.

`reproduce` runs them and writes tables, figures and a page, as ``newfound reproduce`` does on the
command line. ``docs/reproduce.md`` describes what is measured.
"""

from newfound.lab.reproduce.case_study import case_study
from newfound.lab.reproduce.run import PARTS, reproduce

__all__ = ["PARTS", "case_study", "reproduce"]
