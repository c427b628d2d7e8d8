"""Clients of outside services: each says of a write whether it is proven, refused or uncertain."""
