"""The report of a field: its answers, figures, sections and words."""
