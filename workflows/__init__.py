"""The deterministic core: workflows, their messages and the pure words and rules they share."""
