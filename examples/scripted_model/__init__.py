"""A model that follows a script, behind the APIs of five providers.

It decides what it says next from the conversation that it is sent, and refuses a conversation that the real API would
refuse. `server.scripted_model` serves it on a free port; `python -m examples.scripted_model` does so until Ctrl-C.
"""
