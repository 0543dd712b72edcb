"""The commands: flags and messages only."""
