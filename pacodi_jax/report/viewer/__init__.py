"""A page to look at a trained model: one HTML file that needs no server and no network."""

from pacodi_jax.report.viewer.content import Content, Fans, Line
from pacodi_jax.report.viewer.page import page

__all__ = ["Content", "Fans", "Line", "page"]
