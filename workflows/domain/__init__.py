"""Pure words and rules: no input or output, no clock, no framework."""
