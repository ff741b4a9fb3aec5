"""What every room stands on: checks of arrays, files written atomically, CPUs, names of calendars."""
