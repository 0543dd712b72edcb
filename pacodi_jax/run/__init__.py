"""A trained model and what is done with it: drawn from, written, scored, exported."""
