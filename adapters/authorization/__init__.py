"""Who may use which tool on whose objects: a Cedar policy in a file of its own, asked on every offer and call.

`floor.cedar` always holds; `default.cedar` can be replaced by a deployment's own file; `vocabulary.cedarschema` says
what either can speak of.
"""
