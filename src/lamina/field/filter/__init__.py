"""The filter of a field: ``mixed`` states, of which a row measures few, and updates that are ``waiting``."""

from .filter import Gains, Series, fill_gamma, new_gains, observe, run_filter, subtract_outer

__all__ = ["Gains", "Series", "fill_gamma", "new_gains", "observe", "run_filter", "subtract_outer"]
