"""What every door does with a model's response: read it, judge each call, register, start, wait, answer.

HTTP and MCP are doors; neither has a path to a handler of its own.
"""
