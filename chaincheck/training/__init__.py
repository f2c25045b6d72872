"""Training a judge and releasing it: recipe, merge, audit, gate, model card.

Nothing is imported here, so that asking for one part loads no other.
"""
