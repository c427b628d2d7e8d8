"""Webhooks: events told to receivers outside, signed as https://www.standardwebhooks.com says."""
