"""Models of kgflow in other libraries."""
