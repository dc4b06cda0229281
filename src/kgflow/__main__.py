"""`python -m kgflow`, the same as `kgflow`."""

from kgflow.cli.app import main

if __name__ == "__main__":
    main()
