"""A real PostgreSQL in the state folder: made once, started on a found port, furnished with roles and databases.

The server refuses to run as root. When we are root it runs as the system's ``nobody``, who owns the data folder and
holds one capability, ``dac_override``, so that it reaches a data folder and binaries below a home folder that only root
may enter. So no user is added to the machine and no permission outside the state folder is changed.
"""

import asyncio
import os
import pwd
import shutil
import signal
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from worker.dev import environment
from worker.dev.child import Child
from worker.dev.errors import BrokenData, CannotLeaveRoot, MissingBinary
from worker.dev.launch import launched
from worker.dev.layout import Layout
from worker.dev.ports import HOST
from worker.dev.processes import end, tree

UNPRIVILEGED = "nobody"

# Who may log in to which database, and who owns it. Rights inside are given by the migrations.
OWNERS = {"onceward": "onceward_owner", "payments": "payments_provider"}
LOGINS = {
    "onceward": ("onceward_owner", "onceward_door", "onceward_worker", "onceward_relay"),
    "payments": ("payments_provider",),
}


def as_allowed_user(command: list[str]) -> list[str]:
    """The command as it must be run for PostgreSQL to accept who runs it."""
    if os.geteuid() != 0:
        return command
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise MissingBinary("setpriv, which runs PostgreSQL as a user other than root,", "the package util-linux")
    entry = pwd.getpwnam(UNPRIVILEGED)
    return [
        setpriv,
        f"--reuid={entry.pw_uid}",
        f"--regid={entry.pw_gid}",
        "--clear-groups",
        # Without this bit access(2), by which PostgreSQL looks for its own files, would ignore the capability.
        "--securebits=+no_setuid_fixup",
        "--inh-caps=+dac_override",
        "--ambient-caps=+dac_override",
        # The kernel forgets the signal of `launch` when the user changes, so it is set once more.
        f"--pdeathsig={ORPHANED.name.removeprefix('SIG')}",
        *command,
    ]


# Immediate shutdown: the server takes its backends with it and recovers from the log at the next start.
ORPHANED = signal.SIGQUIT


def command(layout: Layout) -> list[str]:
    """The server, with its few settings on the command line, so that a port can change between starts."""
    settings = {
        "listen_addresses": HOST,
        "port": str(layout.ports["postgres"]),
        # TCP only: paths of Unix sockets are limited to some hundred characters, a state folder's path is not.
        "unix_socket_directories": "",
        "max_connections": "200",
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    server = str(layout.binaries.postgres_server)
    return as_allowed_user([server, "-D", str(layout.folder.postgres_data), *options])


async def prepare(layout: Layout) -> None:
    """Data folder there, nobody else on it."""
    data = layout.folder.postgres_data
    if data.exists():
        await asyncio.to_thread(free_of_old_server, data)
    else:
        await make(layout)


def free_of_old_server(data: Path) -> None:
    """End a server that still runs on this data, and drop its pid file.

    PostgreSQL refuses to start when the pid in the file belongs to any live process, and after a crash or a reboot that
    may be a stranger's. The stack holds the folder's lock, so whoever else serves this data is a leftover.
    """
    pid_file = data / "postmaster.pid"
    try:
        pid = int(pid_file.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return
    if _serves(pid, data):
        end(tree(pid))
    pid_file.unlink(missing_ok=True)


def _serves(pid: int, data: Path) -> bool:
    try:
        return Path(psutil.Process(pid).cwd()) == data.resolve()
    except psutil.Error:
        return False


async def make(layout: Layout) -> None:
    """Create the data folder beside its place and move it there, so that a half-made one is never taken for a whole."""
    data = layout.folder.postgres_data
    draft = data.with_suffix(".new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    if os.geteuid() == 0:
        _give_away(draft)
    await _initdb(layout, draft)
    draft.rename(data)


def _give_away(folder: Path) -> None:
    entry = pwd.getpwnam(UNPRIVILEGED)
    try:
        os.chown(folder, entry.pw_uid, entry.pw_gid)
    except PermissionError as refusal:
        raise CannotLeaveRoot(UNPRIVILEGED) from refusal


async def _initdb(layout: Layout, draft: Path) -> None:
    password = layout.folder.root / "initdb.password"
    password.touch(mode=0o600)
    password.write_text(layout.credentials["postgres"])
    # The same order and spelling of text on every machine, whatever locales it has.
    locale = ("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
    access = ("--username=postgres", "--auth=scram-sha-256", f"--pwfile={password}")
    initdb, log = str(layout.binaries.initdb), layout.folder.log("postgres")
    try:
        with log.open("ab") as output:
            making = await asyncio.create_subprocess_exec(
                *launched(as_allowed_user([initdb, "-D", str(draft), *access, *locale]), signal.SIGKILL),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment.bare(layout),
                cwd="/",
            )
            code = await making.wait()
    finally:
        password.unlink()
    if code != 0:
        raise BrokenData("PostgreSQL", draft, f"initdb ended with {code}", log)


async def ready(layout: Layout, _name: str) -> bool:
    """It lets the superuser in."""
    try:
        async with await connect(layout):
            return True
    except psycopg.OperationalError as refusal:
        if "password authentication failed" in str(refusal):
            reason = "it was made with other passwords than those in credentials.json"
            raise BrokenData("PostgreSQL", layout.folder.postgres_data, reason) from refusal
        return False


async def connect(layout: Layout) -> psycopg.AsyncConnection[tuple[object, ...]]:
    """As superuser, each statement on its own: databases cannot be created in a transaction."""
    dsn = layout.dsn("postgres", "postgres")
    return await psycopg.AsyncConnection.connect(dsn, autocommit=True, connect_timeout=5)


async def furnish(layout: Layout) -> None:
    """Roles and databases as they should be; runs at each start, so a new role reaches an old folder too."""
    async with await connect(layout) as connection:
        for role in (role for roles in LOGINS.values() for role in roles):
            await _role(connection, role, layout.credentials[role])
        for database, owner in OWNERS.items():
            await _database(connection, database, owner)


async def _role(connection: psycopg.AsyncConnection[tuple[object, ...]], role: str, password: str) -> None:
    known = await (await connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role])).fetchone()
    if not known:
        await connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
    # The verifier is computed here, so that no statement, and so no server log, ever holds the password.
    verifier = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
    await connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role), sql.Literal(verifier)))


async def _database(connection: psycopg.AsyncConnection[tuple[object, ...]], database: str, owner: str) -> None:
    known = await (await connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database])).fetchone()
    name = sql.Identifier(database)
    if not known:
        await connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(name, sql.Identifier(owner)))
    await connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(name))
    roles = sql.SQL(", ").join(map(sql.Identifier, LOGINS[database]))
    await connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(name, roles))


CHILD = Child(
    name="postgres",
    title="PostgreSQL",
    command=command,
    environment=environment.bare,
    prepare=prepare,
    ready=ready,
    furnish=furnish,
    data=lambda layout: layout.folder.postgres_data,
    port="postgres",
    restarted=False,
    # Fast shutdown: open sessions are ended instead of waited for; what is committed is safe.
    stop=signal.SIGINT,
    orphaned=ORPHANED,
)
