"""The numerics of the O(N) engine: compiled functions on arrays, which know nothing of records and kernels."""

from .compiling.cache import take_over
from .compiling.lean import install

take_over()  # before anything is compiled
install()
