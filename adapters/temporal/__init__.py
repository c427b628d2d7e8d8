"""Temporal: starting, waking and running the durable part."""
