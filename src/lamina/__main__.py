"""``python -m lamina`` is the ``lamina`` command."""

from .cli import main

if __name__ == "__main__":
    main()
