"""Tools of MCP servers, used under contracts that people have reviewed.

    configuration   what a deployment says of its servers and their tools; the only source of risk and of recovery
    pins            the reviewed definitions in their lock file, and what of a live list differs from them
    arguments       an outside schema as an argument model
    stdio, http     the two transports, each strict about what it lets in
    exchange        one exchange over HTTP, kept within bounds
    watching        what was handed to a transport, so that "not sent" is a fact
    connection      one open connection, in a task of its own
    server          a server: connected when needed, its list compared before every call, each call sent once
    answers         what came back, read without trust
    tasks           answers that are promised for later

Nothing here ever sends a call a second time. Whether one is tried again is decided above, by our contract.
"""
