"""The parts of a record: its fields and their checks, ties, layers, and the names and direction of its axes."""
