"""The demonstration: real servers, a scripted model, a worker that is killed, and what came of it.

`python -m examples.demo` (or `make demo`) runs it in a temporary folder. Every claim is measured, effects where they
happen: at the payments provider's own ledger.
"""
