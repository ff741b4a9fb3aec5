"""Settings that all tests share."""

from hypothesis import settings

# No deadline, because the first call of a compiled function takes seconds; the same examples in every run.
settings.register_profile("lamina", deadline=None, derandomize=True, database=None)
settings.load_profile("lamina")
