"""What the back office must be told."""

from dataclasses import dataclass
from urllib.parse import quote

from adapters.addresses import origin_of
from workflows.domain.errors import InvalidConfiguration

PREFIX = "/back-office"
"""Where the pages are mounted."""

SHORTEST_SECRET = 32


@dataclass(frozen=True)
class BackOfficeSettings:
    """`public_url` is the address that people's browsers use, `session_secret` signs cookies (32 characters or more).

    `client_id` and `client_secret` are those registered at the issuer; an empty secret means a public client (PKCE
    alone). `console_workflow_url` is the workflow console's address of one workflow with `{workflow_id}` in it, e.g.
    `http://localhost:8233/namespaces/default/workflows/{workflow_id}`; empty: no link.

    Raises:
        InvalidConfiguration: an address is no http(s) origin, or the secret is too short.
    """

    public_url: str
    session_secret: str
    client_id: str = "onceward-back-office"
    client_secret: str = ""
    console_workflow_url: str = ""

    def __post_init__(self) -> None:
        try:
            origin_of(self.public_url)
        except ValueError:
            raise InvalidConfiguration("the public URL of the back office must be an http or https origin") from None
        if len(self.session_secret) < SHORTEST_SECRET:
            raise InvalidConfiguration(f"the session secret must have {SHORTEST_SECRET} characters or more")
        if self.console_workflow_url and not self.console_workflow_url.startswith(("http://", "https://")):
            raise InvalidConfiguration("the workflow console's address must be an http or https address")

    @property
    def origin(self) -> str:
        """Scheme and host of the public URL, as browsers send it in `Origin`."""
        return origin_of(self.public_url)

    @property
    def secure(self) -> bool:
        """Whether cookies may travel over https only."""
        return self.origin.startswith("https://")

    @property
    def callback_url(self) -> str:
        """Where the issuer sends people back to."""
        return f"{self.origin}{PREFIX}/sign-in/callback"

    def console_url(self, workflow_id: str) -> str:
        """The workflow console's page of one operation, empty when there is no console."""
        return self.console_workflow_url.replace("{workflow_id}", quote(workflow_id, safe=""))
