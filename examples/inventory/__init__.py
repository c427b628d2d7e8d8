"""A small inventory behind an MCP server: stock is reserved, found again and released. Its book is a SQLite file."""
