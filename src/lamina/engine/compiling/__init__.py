"""How Numba compiles the engine, and keeps what it has compiled."""
