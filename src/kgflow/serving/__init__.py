"""A run at work: an index of its entities, and answers over HTTP."""
