"""A payments service of somebody else: the *downstream* of the demos, the fault tests and the benchmarks.

It runs as its own process on its own schema and knows nothing of its callers. Besides the public API (`/v1`) it has
fault switches and evidence (`/_admin`): a test breaks a reply at a chosen point and then counts what really happened.
"""
