"""Translations: each adapter knows one outside world and the core's words."""
