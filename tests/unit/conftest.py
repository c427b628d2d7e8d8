"""What several files of unit tests begin with."""

import httpx2
import pytest

from tests.unit.back_office_house import ISSUER, Browser, House, house_of
from worker.dev.issuer import DevelopmentIssuer, IssuerSettings


@pytest.fixture(scope="session")
def development_issuer(tmp_path_factory: pytest.TempPathFactory) -> httpx2.ASGITransport:
    """An issuer for which everybody is who they say."""
    folder = tmp_path_factory.mktemp("issuer")
    return httpx2.ASGITransport(DevelopmentIssuer(IssuerSettings(dev_issuer_state_dir=folder, issuer=ISSUER)).app())


@pytest.fixture
def house(development_issuer: httpx2.ASGITransport) -> House:
    """A back office in which one approval waits."""
    return house_of(development_issuer)


@pytest.fixture
async def approver(house: House) -> Browser:
    """Somebody who may decide on it."""
    return await house.signed_in("approver-1")


@pytest.fixture
async def second_approver(house: House) -> Browser:
    """Somebody else who may."""
    return await house.signed_in("approver-2")
