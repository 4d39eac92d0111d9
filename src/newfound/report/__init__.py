"""One offline page that shows what is new.

`write_report` writes it. The way there: `gather` the texts, `collect` plain data, `render` a page;
each piece can be used by itself, by a service too.
"""

from newfound.report.collect import collect
from newfound.report.limits import MAX_BYTES, Limits
from newfound.report.material import Material, gather
from newfound.report.page import render
from newfound.report.write import write_report

__all__ = ["MAX_BYTES", "Limits", "Material", "collect", "gather", "render", "write_report"]
