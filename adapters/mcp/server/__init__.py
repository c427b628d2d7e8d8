"""Being an MCP server: the executor's tools for any host, behind the same gate as every other door.

    listing    what `tools/list` says                         answers   the declared form of a tool's answers
    asking     what a host asks for, under which identity     tasks     operations, as the tasks extension has them
    own_tools  coming back to an operation                    endpoint  Streamable HTTP, for a door to mount
    server     the handlers, put together

A call of a tool is a turn of one call in `adapters.intake`; nothing here leads to a handler by another way.
"""
