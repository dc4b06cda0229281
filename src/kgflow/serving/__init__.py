"""HTTP server of a run, its explorer page, and a Python client."""
