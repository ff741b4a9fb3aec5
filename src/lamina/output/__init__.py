"""Every file that a command writes."""
