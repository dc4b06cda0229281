"""The studies behind the published numbers, run in a checkout by `python -m reproduce STUDY`."""
