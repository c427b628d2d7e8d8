"""Pages for people: what waits for a decision, the decision itself, and what became of each operation.

`application.mount` puts them on a door. The stores fit `ports`, `session_store` and `dashboard_ports`, which import no
part of the pages.
"""
