"""The shipped tools, one module for each family: contract, rules and calls together.

To add a tool, write a module like `payments` and name it in the wiring.
"""
