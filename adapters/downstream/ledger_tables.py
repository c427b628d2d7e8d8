"""The ledger's tables, each with its sentence. They refer to none of the executor's own and could stand elsewhere."""

from sqlalchemy import BigInteger, Boolean, Column, DateTime, ForeignKey, Index, Integer, MetaData, Table, Text, func

metadata = MetaData()

accounts = Table(
    "ledger_accounts",
    metadata,
    Column("account_id", Text, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("customer", Text, nullable=False),
    Column("currency", Text, nullable=False),
    Column("balance", BigInteger, nullable=False, server_default="0"),
    Column("credit_limit", BigInteger, nullable=False),
    Column("closed", Boolean, nullable=False, server_default="false"),
    Column("version", Integer, nullable=False, server_default="1"),
    comment="A customer's store credit, in minor units; the version rises whenever the balance moves.",
)

entries = Table(
    "ledger_entries",
    metadata,
    Column("operation_id", Text, primary_key=True),
    Column("item", Text, primary_key=True, server_default=""),
    Column("entry_id", Text, nullable=False, unique=True),
    Column("account_id", Text, ForeignKey("ledger_accounts.account_id"), nullable=False),
    Column("minor_units", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("balance_after", BigInteger, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index("ledger_entries_by_account", "account_id", "at"),
    comment="A credit that was given: one for each operation and item, whoever sends it and how often.",
)

fences = Table(
    "ledger_fences",
    metadata,
    Column("operation_id", Text, primary_key=True),
    Column("item", Text, primary_key=True, server_default=""),
    Column("generation", Integer, nullable=False),
    comment="The smallest generation of an operation that is still let in; every send and every look may raise it.",
)
