"""What the driver was asked and what it answered: a bounded record, and log lines."""

from mockdriver.journal.entry import Entry
from mockdriver.journal.journal import Journal

__all__ = ["Entry", "Journal"]
