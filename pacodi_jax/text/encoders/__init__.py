"""Text encoders behind one interface: ``ENCODERS[name](**options) -> Encoder``."""
