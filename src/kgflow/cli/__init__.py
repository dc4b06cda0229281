"""The command line: parse, call, print."""

from kgflow.cli.app import main

__all__ = ["main"]
