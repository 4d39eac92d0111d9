"""newfound tells which documents are new, and which words make them so."""

from importlib.metadata import version

from newfound.machine import Clauses, EpochInfo, TsetlinMachineClassifier

__version__ = version("newfound")
__all__ = ["Clauses", "EpochInfo", "TsetlinMachineClassifier", "__version__"]
