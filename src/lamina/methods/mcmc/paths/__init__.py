"""Paths of Hamiltonian Monte Carlo through innovations, alpha and memory, where nothing but dates is known."""
