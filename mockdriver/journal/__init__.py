"""What the driver was asked and what it answered: a bounded record, and log lines."""

from mockdriver.journal.entry import CloudCall, Entry
from mockdriver.journal.journal import Journal

__all__ = ["CloudCall", "Entry", "Journal"]
