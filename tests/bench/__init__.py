"""How fast it is, measured on this machine: `make bench`, or `python -m tests.bench`. No part of the tests.

To measure something else, write a module with a function `contest` like the one in `gate` and list it in `__main__`.
A contestant is a name, a sentence and something to call; what needs servers starts them before it gives the contest.
Who is called by many at once, or lives in a process of others' making, has a place in `durable`.
"""
