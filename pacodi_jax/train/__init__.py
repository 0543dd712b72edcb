"""Training that can be stopped, killed and resumed."""
