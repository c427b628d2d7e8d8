"""The processes and their wiring; the only part that reads the environment."""
