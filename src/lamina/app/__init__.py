"""lamina in the browser: a server on this machine only, whose runs are those of the command line.

The server itself computes nothing. Tables are read, and questions to a posterior answered, by helper processes; each
run is the ``lamina`` command in a process of its own. None of them can take the server down with it.
"""
