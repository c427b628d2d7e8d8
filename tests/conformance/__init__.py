"""The official conformance suite of MCP, and hosts of other makers, against our server and our client.

No tests of pytest: `make conformance` fetches a Node and the suite, at pinned versions, into `.venv/conformance`, and
runs them against the whole stack. What does not apply to us stands in `not_applicable.yaml`, each with its reason.
"""
