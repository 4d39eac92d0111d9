"""One offline page that shows what is new.

`write_report` and `write_detection_report` write it, in these steps: `gather` the texts, `collect`
plain data, `trim` them to the size limit, `render` a page.
"""

from newfound.report.collect import collect
from newfound.report.corpus import gather
from newfound.report.detection import collect_detection
from newfound.report.limits import MAX_BYTES, Limits
from newfound.report.page import render
from newfound.report.periods import collect_periods
from newfound.report.trim import trim
from newfound.report.write import (
    detection_page,
    report_page,
    report_page_of_periods,
    write_detection_report,
    write_page,
    write_report,
)

__all__ = [
    "MAX_BYTES",
    "Limits",
    "collect",
    "collect_detection",
    "collect_periods",
    "detection_page",
    "gather",
    "render",
    "report_page",
    "report_page_of_periods",
    "trim",
    "write_detection_report",
    "write_page",
    "write_report",
]
