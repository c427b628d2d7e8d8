"""The one thing that an examination can end with before its end."""


class Loss(Exception):
    """Something of an exchange is lost; the message says what, never what it said."""
