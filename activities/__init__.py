"""The steps of an operation, one activity each; every side effect goes through a port."""
