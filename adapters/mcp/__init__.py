"""MCP both ways: `client` uses the tools of other servers, `server` is a door of ours."""
