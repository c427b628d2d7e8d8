"""An agent loop on each API, with its own package: hand over the response, append what comes back.

The scripted model (`python -m examples.scripted_model`) stands behind all five, so that each can be tried.
"""
