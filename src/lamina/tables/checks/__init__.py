"""What may be wrong with a table that looks right: each module knows one danger.

A check concludes and states why (a fact), warns, or asks: it stops with the options that decide.
"""
