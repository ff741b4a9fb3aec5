"""What every room uses: checks of arrays, files written atomically, CPUs, names of calendars."""
