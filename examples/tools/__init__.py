"""Families of tools to try things on: reads of different speed and age, and a wiki that the provider calls itself."""
