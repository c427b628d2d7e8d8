"""What durability costs: the same five steps under Onceward, bare Temporal, DBOS and Restate, on one machine.

Read `contest` first. `family` is the tool that all of them call, `steps` the five steps that all but Onceward's own
workflow are given, `house` starts what is measured, `contestants` calls it.
"""
