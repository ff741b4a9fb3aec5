"""The methods: one file each, one shape. Each takes a ``Problem`` and returns ``Draws``."""
