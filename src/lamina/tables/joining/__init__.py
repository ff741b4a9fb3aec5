"""Tables whose ages are in another file: dates of the same core, or the ensemble of another age model."""
