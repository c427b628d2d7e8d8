"""Addresses of our own that a person may be sent back to."""

import re

from adapters.http.back_office.settings import PREFIX

HOME = f"{PREFIX}/"

LONGEST = 2000
"""Characters of an address."""

PAGE = re.compile(rf"{PREFIX}/(?:[A-Za-z0-9_-]+/)*[A-Za-z0-9_-]*(?:\?[A-Za-z0-9_.~:@!$()*+;,=&%/-]*)?")
"""Nothing in it can lead to another host, and no text takes long to be told from it."""


def own_page(address: str) -> str:
    """The address if it is one of ours, else that of the first page."""
    return address if len(address) <= LONGEST and PAGE.fullmatch(address) else HOME


def page_to_return_to(address: str) -> str:
    """The same after a sign-in, which must not lead to another one."""
    return HOME if address.startswith(f"{PREFIX}/sign-") else own_page(address)
