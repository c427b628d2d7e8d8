"""The Python client of Onceward: hand over a model's response, append what comes back."""
