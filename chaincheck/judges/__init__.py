"""Judges: everything that scores items."""
