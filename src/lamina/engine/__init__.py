"""The numerics of the O(N) engine: compiled functions on arrays, which know nothing of records and kernels."""

from .cache import never_fail

never_fail()  # before anything is compiled
