"""Weather, news and stock prices from feeds that take their time: reads to run side by side.

Nothing outside is asked: each feed answers from a small table, after a delay that the settings name.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import BaseModel, Field

from adapters.tools.family import Family, policy_beside
from workflows.domain.authorization import Admit
from workflows.domain.contract import Arguments, Contract, EffectKind, Idempotency, Risk, ToolResult, Trust
from workflows.domain.errors import CallRefused
from workflows.domain.impact import Resource
from workflows.domain.principal import Principal

City = Annotated[str, Field(description="A city by its English name.", examples=["Seoul"], max_length=60)]
Ticker = Annotated[str, Field(description="A stock's ticker symbol.", examples=["ACME"], pattern=r"^[A-Z]{1,6}$")]
Topic = Annotated[str, Field(description="What the news shall be about.", examples=["ACME"], max_length=60)]
Pair = Annotated[str, Field(description="Two ISO 4217 codes, from and to.", examples=["USDKRW"], pattern=r"^[A-Z]{6}$")]


class CityArguments(Arguments):
    """Which city."""

    city: City


class TickerArguments(Arguments):
    """Which stock."""

    ticker: Ticker


class TopicArguments(Arguments):
    """What about."""

    topic: Topic


class PairArguments(Arguments):
    """Which two currencies."""

    pair: Pair


class Observation(ToolResult):
    """What a feed says, in words, and when it was observed."""

    about: str
    says: str
    observed_at: str


WEATHER = {"Seoul": "clear, 4 °C", "Busan": "rain, 9 °C", "Oslo": "snow, -3 °C"}
STOCKS = {"ACME": "71,200 KRW, up 1.2 %", "INIT": "12,050 KRW, unchanged"}
NEWS = {"ACME": "ACME opens a second plant.", "Seoul": "Seoul extends its night buses."}
RATES = {"USDKRW": "1,391.20", "EURKRW": "1,502.75"}


def _contract(name: str, title: str, description: str, arguments: type[Arguments], **more: Any) -> Contract:
    (argument,) = arguments.model_fields
    return Contract(
        name=name,
        title=title,
        description=description,
        version="1",
        effect=EffectKind.READ,
        idempotency=Idempotency.READ,
        risk=Risk.LOW,
        resource=("feed", argument),
        arguments=arguments,
        result=Observation,
        trust=Trust.EXTERNAL,
        **more,
    )


GET_WEATHER = _contract(
    "get_weather",
    "Look up the weather",
    "Look up the present weather of one city. Use it for questions about now; it knows no forecast, changes nothing.",
    CityArguments,
    fresh_seconds=600.0,
    tags=frozenset({"weather", "temperature", "날씨", "기온"}),
)
GET_STOCK_PRICE = _contract(
    "get_stock_price",
    "Look up a stock price",
    "Look up the last traded price of one stock by its ticker symbol. It places no order and changes nothing.",
    TickerArguments,
    fresh_seconds=15.0,
    tags=frozenset({"stock", "share price", "주가", "주식"}),
)
SEARCH_NEWS = _contract(
    "search_news",
    "Search the news",
    "Search today's headlines about one topic. Headlines are other people's words, not facts; it changes nothing.",
    TopicArguments,
    fresh_seconds=3600.0,
    tags=frozenset({"news", "headlines", "뉴스", "소식"}),
)
GET_EXCHANGE_RATE = _contract(
    "get_exchange_rate",
    "Look up an exchange rate",
    "Look up today's reference rate between two currencies. Not the rate of any payment; it changes nothing.",
    PairArguments,
    fresh_seconds=60.0,
    tags=frozenset({"exchange rate", "currency", "환율", "환전"}),
    deferred=True,
)


class Feed:
    """One feed: a table behind a delay in milliseconds. What it knows it knows for everybody."""

    def __init__(
        self, contract: Contract, table: Mapping[str, str], delay_ms: int, age: timedelta = timedelta(0)
    ) -> None:
        self.contract, self._table, self._delay, self._age = contract, table, delay_ms / 1000, age
        self._now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def read(self, arguments: Arguments, principal: Principal, admit: Admit) -> Mapping[str, Any]:
        """Return what the feed says in `Observation`'s shape; what it does not know is `not_found`."""
        about = str(getattr(arguments, self.contract.resource[1]))
        admit(Resource("feed", about, principal.tenant, version="1"))
        await asyncio.sleep(self._delay)
        if about not in self._table:
            raise CallRefused("not_found")
        observed_at = (self._now() - self._age).isoformat(timespec="seconds")
        return {"about": about, "says": self._table[about], "observed_at": observed_at}


class FeedSettings(BaseModel):
    """How long each feed takes, in milliseconds."""

    weather_ms: int = Field(120, ge=0, description="milliseconds")
    stock_ms: int = Field(280, ge=0, description="milliseconds")
    news_ms: int = Field(200, ge=0, description="milliseconds")


@asynccontextmanager
async def connect(settings: FeedSettings) -> AsyncIterator[Sequence[Any]]:
    """The feeds; the stock prices are half a minute old."""
    yield [
        Feed(GET_WEATHER, WEATHER, settings.weather_ms),
        Feed(GET_STOCK_PRICE, STOCKS, settings.stock_ms, timedelta(seconds=30)),
        Feed(SEARCH_NEWS, NEWS, settings.news_ms),
        Feed(GET_EXCHANGE_RATE, RATES, 0),
    ]


FAMILY = Family(
    name="feeds",
    contracts=(GET_WEATHER, GET_STOCK_PRICE, SEARCH_NEWS, GET_EXCHANGE_RATE),
    connect=connect,
    settings=FeedSettings,
    policy=policy_beside(__file__),
)
