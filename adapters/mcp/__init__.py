"""MCP both ways: other servers' tools as ours (`client`), and our tools for any host (`server`)."""
