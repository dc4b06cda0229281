"""Speed of kgflow beside a plain program, PyKEEN and the bare matrix product."""
