"""The commands of the program: parse, call, print."""
