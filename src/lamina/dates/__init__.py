"""Dates that are not Gaussian: the density of a time given its measurement alone, on the user's time scale."""

from .kinds import Date, SplitNormal, StudentT, Tabulated, Uniform
from .radiocarbon import Radiocarbon
from .table import DateTable

__all__ = ["Date", "DateTable", "Radiocarbon", "SplitNormal", "StudentT", "Tabulated", "Uniform"]
