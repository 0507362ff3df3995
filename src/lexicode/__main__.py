"""`python -m lexicode` is `lexicode`."""

from lexicode.cli import main

if __name__ == "__main__":
    main()
