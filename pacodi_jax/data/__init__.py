"""From any table to windows, and back in the user's own units, with nothing leaking."""
