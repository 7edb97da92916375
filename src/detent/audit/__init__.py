"""The history checker: a pure library over records, events and recorded calls."""
