"""Sites and coordinates in a table, and rates of glacial isostasy: what makes its rows a field instead of one curve."""
