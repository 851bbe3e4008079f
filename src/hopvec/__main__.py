"""`python -m hopvec`: the command line."""

from hopvec.cli import main

if __name__ == "__main__":
    main()
