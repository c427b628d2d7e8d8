"""PostgreSQL: the tables in which the promises are kept, and the transactions that keep them."""
