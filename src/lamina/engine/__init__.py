"""The numerics of the O(N) engine: compiled functions on arrays, which know nothing of records and kernels."""
