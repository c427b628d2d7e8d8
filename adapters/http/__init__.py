"""The inbound HTTP doors: who calls, what went wrong in words a client can use, and the pages for people."""
