"""Of many tools the few that fit are found, by words and by patterns, and never one that the caller may not use."""

import contextlib
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.tool_search import By, Entry, Found, ToolIndex, english, glossary, korean, words
from adapters.tool_search.index import LONGEST_QUERY
from adapters.tool_search.patterns import EXPECTED
from adapters.tool_search.spelling import Spelling
from tests.search.labelled import catalog
from workflows.domain.errors import CallRefused, Detail, InvalidConfiguration

ROOT = Path(__file__).parents[2]
CATALOG = catalog()
NAMES = frozenset(entry.name for entry in CATALOG)
INDEX = ToolIndex(CATALOG)


def entry(name: str, title: str = "", description: str = "", tags: Sequence[str] = (), *arguments: str) -> Entry:
    return Entry(name, title, description, frozenset(tags), arguments)


def names(found: Sequence[Found]) -> list[str]:
    return [each.name for each in found]


def searched(query: str, *entries: Entry, limit: int = 5) -> list[str]:
    """What a caller finds who may use all of these."""
    return names(ToolIndex(entries).search(query, allowed={each.name for each in entries}, limit=limit))


def matched(pattern: str, *entries: Entry, limit: int = 5) -> list[str]:
    return names(ToolIndex(entries).matching(pattern, allowed={each.name for each in entries}, limit=limit))


def refusal(search: Callable[[], object]) -> Detail:
    """The one detail of a refusal for unfit arguments."""
    with pytest.raises(CallRefused) as refused:
        search()
    assert refused.value.code == "invalid_arguments"
    (detail,) = refused.value.details
    return detail


# ── names and tags ──


WAYS_TO_WRITE: list[Callable[[str], str]] = [
    str,
    lambda name: f"  {name}\n",
    lambda name: name.replace("_", " "),
    lambda name: name.replace("_", "-").upper(),
    lambda name: name.title().replace("_", ""),
]


@pytest.mark.parametrize("written", WAYS_TO_WRITE)
def test_every_allowed_tool_is_found_first_by_its_name(written: Callable[[str], str]) -> None:
    first = {name: INDEX.search(written(name), allowed=NAMES)[0] for name in NAMES}
    assert {name: found.name for name, found in first.items()} == {name: name for name in NAMES}
    assert {found.by for found in first.values()} == {By.NAME}


def test_the_tools_that_have_what_was_asked_for_as_a_tag_come_first() -> None:
    for tag in sorted({tag for each in CATALOG for tag in each.tags}):
        tagged = {each.name for each in CATALOG if tag in each.tags}
        first = INDEX.search(tag, allowed=NAMES, limit=10)[: len(tagged)]
        assert ({each.name for each in first}, {each.by for each in first}) == (tagged, {By.TAG}), tag


def test_a_tool_that_is_named_in_a_sentence_comes_first() -> None:
    found = INDEX.search("the refund failed, so try void_payment instead of a refund", allowed=NAMES)
    assert (found[0].name, found[0].by) == ("void_payment", By.NAME)


def test_a_name_with_a_dot_or_a_hyphen_is_found_in_a_sentence_as_well() -> None:
    tools = (entry("crm.find"), entry("crm-sync"), entry("find_crm", tags=["find crm sync now"]))
    assert searched("run crm.find.", *tools)[0] == "crm.find"
    assert searched("run crm-sync, please", *tools)[0] == "crm-sync"


@pytest.mark.parametrize(
    ("query", "name"), [("try VOID_Payment, not a refund", "void_payment"), ("try crm.findlead first", "crm.findLead")]
)
def test_capitals_do_not_matter_in_a_name_that_stands_in_a_sentence(query: str, name: str) -> None:
    index = ToolIndex([entry("crm.findLead"), entry("void_payment"), entry("refund_lead", tags=["crm refund try"])])
    first = index.search(query, allowed={"crm.findLead", "void_payment", "refund_lead"})[0]
    assert (first.name, first.by) == (name, By.NAME)


def test_a_name_of_one_word_is_an_ordinary_word_in_a_sentence() -> None:
    tools = (entry("search", "Look something up"), entry("find_mail", tags=["search the mailbox", "mail"]))
    assert searched("search", *tools)[0] == "search"
    assert searched("search the mailbox for mail", *tools)[0] == "find_mail"


def test_the_very_name_comes_before_the_same_name_written_otherwise() -> None:
    tools = (entry("getOrder", tags=["order", "get"]), entry("get_order"))
    assert searched("get_order", *tools) == ["get_order", "getOrder"]
    assert searched(" getOrder\n", *tools) == ["getOrder", "get_order"]
    assert searched("\tget_order ", *tools) == ["get_order", "getOrder"]


def test_a_name_comes_before_a_tag_and_a_tag_before_words() -> None:
    words_only = entry("pay_back", "Give a refund: refund, refund, refund", "A refund of a refund.")
    tagged = entry("return_money", tags=["refund"])
    assert searched("refund", words_only, tagged, entry("refund")) == ["refund", "return_money", "pay_back"]


def test_a_tool_without_a_telling_word_is_found_by_its_name_all_the_same() -> None:
    found = ToolIndex([entry("do_it"), entry("___")]).search("do_it", allowed={"do_it", "___"})
    assert found == [Found("do_it", By.NAME, 0.0)]


# ── who may use what ──

SMALL = CATALOG[::9]
SMALL_INDEX = ToolIndex(SMALL)
QUERIES = st.one_of(
    st.sampled_from([word for each in SMALL for word in (each.name, each.title, *sorted(each.tags))]),
    st.lists(st.sampled_from(["refund", "환불", "order", "주문", "crad", "mail", "재고", "delete"]), max_size=4).map(
        " ".join
    ),
    st.text(max_size=20),
)


@settings(max_examples=40, deadline=None)
@given(allowed=st.sets(st.sampled_from([each.name for each in SMALL])), query=QUERIES)
def test_an_answer_is_that_of_a_catalog_without_the_forbidden_tools(allowed: set[str], query: str) -> None:
    alone = ToolIndex([each for each in SMALL if each.name in allowed])
    assert SMALL_INDEX.search(query, allowed=allowed) == alone.search(query, allowed=NAMES)


@settings(max_examples=40, deadline=None)
@given(
    allowed=st.sets(st.sampled_from([each.name for each in SMALL])), pattern=st.sampled_from([".", "_", "^.e", "환"])
)
def test_a_pattern_finds_what_it_would_find_without_the_forbidden_tools(allowed: set[str], pattern: str) -> None:
    alone = ToolIndex([each for each in SMALL if each.name in allowed])
    assert SMALL_INDEX.matching(pattern, allowed=allowed) == alone.matching(pattern, allowed=NAMES)


@pytest.mark.parametrize("seed", range(10))
def test_a_forbidden_tool_is_never_found_and_takes_no_place(seed: int) -> None:
    chance = random.Random(seed)
    allowed = frozenset(chance.sample(sorted(NAMES), chance.randrange(1, 100)))
    for forbidden in sorted(NAMES - allowed)[:20]:
        assert set(names(INDEX.search(forbidden, allowed=allowed, limit=10))) <= allowed
    assert len(INDEX.matching(".", allowed=allowed, limit=10)) == min(10, len(allowed))


def test_nothing_is_found_by_who_may_use_nothing() -> None:
    assert INDEX.search("refund_payment", allowed=frozenset()) == []
    assert INDEX.matching("refund", allowed=frozenset()) == []


def test_rights_that_are_asked_about_in_turn_do_not_mix() -> None:
    for name in ("refund_payment", "void_payment", "refund_payment"):
        assert names(INDEX.search("payment", allowed={name})) == [name]


# ── words ──


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("refund_payment", ["refund", "payment"]),
        ("refundPayment", ["refund", "payment"]),
        ("HTTPServer2Go", ["http", "server", "2", "go"]),
        ("Refund-Payment!", ["refund", "payment"]),
        ("PR을 올려줘", ["pr", "을", "올려줘"]),
        ("ＲＥＦＵＮＤ ①", ["refund", "1"]),
        ("Straße CAFÉ", ["strasse", "café"]),
        ("\u1112\u116a\u11ab\u1107\u116e\u11af", ["환불"]),  # decomposed, as some keyboards write it
        ("", []),
        ("\ud800 \0 🙂", []),
    ],
)
def test_a_text_falls_into_runs(text: str, runs: list[str]) -> None:
    assert words.runs(text) == runs


@pytest.mark.parametrize("word", ["please", "the", "A", "해줘", "좀", "주세요", "우리는", "x", "12345", "9999"])
def test_what_says_nothing_about_a_tool_is_left_out(word: str) -> None:
    assert list(words.telling(word)) == []


@pytest.mark.parametrize("word", ["2", "365", "s3", "refund", "돈"])
def test_what_may_say_something_stays(word: str) -> None:
    assert list(words.telling(word)) != []


@pytest.mark.parametrize(
    "forms",
    [
        "refund refunds refunded refunding",
        "cancel cancels cancelled canceled cancelling cancellation",
        "move moved moving moves",
        "delivery deliveries deliver delivered",
        "translate translation translated translating",
        "create created creating creation",
        "notify notification notifications notified",
        "renew renewal renewals",
        "reimburse reimbursement reimbursed",
        "agree agreed agrees",
        "invoice invoices invoiced invoicing",
        "use used",
        "box boxes",
    ],
)
def test_the_forms_of_a_word_are_one(forms: str) -> None:
    assert len({english.stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("formation", "form"),
        ("location", "locat"),
        ("retirement", "retir"),
        ("placement", "placement"),
        ("action", "act"),
        ("onion", "onion"),
        ("renewal", "renew"),
        ("postal", "postal"),
        ("paying", "pay"),
        ("using", "using"),
        ("indication", "ind"),
        ("tried", "tri"),
        ("fees", "fee"),
        ("feeds", "fee"),
        ("need", "nee"),
        ("format", "format"),
        ("activate", "activ"),
        ("process", "process"),
        ("fizz", "fiz"),
        ("agree", "agre"),
    ],
)
def test_an_ending_is_cut_if_enough_is_left(word: str, stem: str) -> None:
    assert english.stem(word) == stem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pay", "payment"),
        ("ship", "shipment"),
        ("state", "statement"),
        ("sing", "s"),
        ("post", "postal"),
        ("pass", "pas"),
    ],
)
def test_words_that_mean_something_else_stay_apart(one: str, other: str) -> None:
    assert english.stem(one) != english.stem(other)


@pytest.mark.parametrize(
    ("run", "word"),
    [
        ("환불", "환불"),
        ("환불을", "환불"),
        ("환불해줘", "환불"),
        ("환불해주세요", "환불"),
        ("환불부탁드려요", "환불"),
        ("고객들에게", "고객"),
        ("고객에게서는", "고객"),
        ("창고에서", "창고"),
        ("서버로부터", "서버"),
        ("돈을", "돈"),
        ("휴가", "휴가"),
        ("문의", "문의"),
        ("회의를", "회의"),
        ("재고", "재고"),
        ("이", "이"),
        ("은는", "은"),
    ],
)
def test_particles_and_spoken_endings_are_cut_off(run: str, word: str) -> None:
    assert korean.cut(run) == word


def test_korean_words_that_are_joined_otherwise_share_pairs() -> None:
    assert korean.tokens("법인카드") == ("법인카드", "법인", "인카", "카드")
    assert "휴가" in korean.tokens("여름휴가")
    assert korean.tokens("환불해줘") == ("환불", "불해")


def test_a_run_of_a_thousand_particles_is_cut_in_no_time() -> None:
    assert korean.cut("은" * LONGEST_QUERY) == "은"


@pytest.mark.parametrize("query", ["환불해줘", "환불을 좀 해주세요", "결제환불", "환불이요"])
def test_a_korean_wish_finds_the_tool_that_has_the_word_as_a_tag(query: str) -> None:
    assert searched(query, entry("refund_payment", tags=["환불"]), entry("get_order", tags=["조회"])) == [
        "refund_payment"
    ]


def test_korean_finds_what_was_described_in_english_only() -> None:
    tools = (entry("refund_payment", "Refund a payment"), entry("track_parcel", "Follow a parcel"), entry("set_price"))
    assert searched("환불해 주세요", *tools)[0] == "refund_payment"
    assert searched("소포 위치", *tools)[0] == "track_parcel"


def test_another_word_of_the_same_meaning_finds_but_the_word_itself_finds_better() -> None:
    tools = (entry("annul_invoice", tags=["annul"]), entry("void_invoice", tags=["void"]), entry("get_order"))
    assert searched("void that bill", *tools) == ["void_invoice", "annul_invoice"]


def test_each_word_of_the_glossary_counts_once_in_its_line_and_shares_its_meaning() -> None:
    for line in glossary.lines():
        assert len(line) == len(set(line)) > 1, line
        assert [list(words.telling(word)) for word in line] == [[word] for word in line]
        assert set.intersection(*(set(glossary.meanings(words.tokens(word)[0])) for word in line)), line


# ── order ──


def test_a_word_counts_most_in_a_name_and_least_in_a_description() -> None:
    filler = entry("open_door", "Open it", "Opens it.", ["door"], "door")
    in_name = entry("zebra_a", "Open it", "Opens it.", ["door"], "door")
    in_tags = entry("open_b", "Open it", "Opens it.", ["zebra"], "door")
    in_description = entry("open_c", "Open it", "Opens zebra.", ["door"], "door")
    found = searched("zebra stripes", filler, in_description, in_tags, in_name)
    assert found == ["zebra_a", "open_b", "open_c"]


def test_a_word_in_a_title_and_in_the_names_of_arguments_counts() -> None:
    assert searched("zebra fur", entry("open_a", "A zebra"), entry("open_b")) == ["open_a"]
    assert searched("zebra fur", entry("open_a", "", "", [], "zebra id"), entry("open_b")) == ["open_a"]


def test_the_name_of_another_tool_in_a_description_does_not_count() -> None:
    void = entry("void_payment", "Release", "Releases a hold. For a capture use refund_order2, for others get_it.")
    assert searched("refund an order", void, entry("get_order")) == ["get_order"]


def test_equal_tools_stand_in_the_order_of_their_names_however_they_were_given() -> None:
    tools = [entry(name, "Count sheep") for name in ("b_x", "d_x", "a_x", "c_x")]
    assert searched("sheep count", *tools) == ["a_x", "b_x", "c_x", "d_x"]
    assert searched("sheep count", *reversed(tools)) == ["a_x", "b_x", "c_x", "d_x"]
    assert matched("sheep", *tools) == ["a_x", "b_x", "c_x", "d_x"]


def test_the_best_comes_first_and_scores_fall() -> None:
    found = INDEX.search("refund the payment of an order", allowed=NAMES, limit=10)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert found[0].name == "refund_payment"


def test_a_word_that_is_repeated_counts_once() -> None:
    once = INDEX.search("stock of an order", allowed=NAMES)
    assert INDEX.search("order order: stock of an order, an order", allowed=NAMES) == once


def test_what_hardly_fits_beside_the_best_is_not_offered() -> None:
    best = entry("feed_zebra", "Feed a zebra in the zoo", tags=["zebra", "zoo", "feed"])
    weak = entry("open_door", "Open a door", "Opens a door of the house, the shed, the barn, the stable or the zoo.")
    assert searched("feed the zebra in the zoo", best, weak) == ["feed_zebra"]
    assert searched("zoo stable", best, weak) == ["open_door", "feed_zebra"]


def test_another_process_with_other_hashes_gives_the_same_answer() -> None:
    program = (
        "from adapters.tool_search import ToolIndex; from tests.search.labelled import catalog; c = catalog()[::9];"
        "print(ToolIndex(c).search('환불 payment ordr', allowed={e.name for e in c}, limit=10))"
    )
    other = {**os.environ, "PYTHONHASHSEED": "1"}
    told = subprocess.check_output([sys.executable, "-c", program], cwd=ROOT, env=other, text=True)
    assert told.strip() == str(SMALL_INDEX.search("환불 payment ordr", allowed=NAMES, limit=10))


# ── slips ──


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("refnd", "refund"),
        ("refunnd", "refund"),
        ("refumd", "refund"),
        ("reufnd", "refund"),
        ("efund", "refund"),
        ("trak", "track"),
        ("베송", "배송"),
        ("죠회을", "조회을"),
        ("환뷸", "환불"),
    ],
)
def test_a_word_that_is_one_slip_away_is_known(written: str, known: str) -> None:
    assert Spelling([known, "zebra"]).nearest(written) == [known]


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("reufmd", "refund"),
        ("rfnd", "refund"),
        ("dnufer", "refund"),
        ("urfend", "refund"),
        ("play", "plan"),
        ("tell", "tel"),
        ("car", "card"),
        ("abcde", "bcdef"),
        ("a" * 41, "a" * 40),
    ],
)
def test_a_word_that_is_further_away_or_short_is_not(written: str, known: str) -> None:
    assert Spelling([known]).nearest(written) == []


def test_of_several_words_that_are_near_all_are_meant() -> None:
    assert Spelling(["order", "older", "odder"]).nearest("oder") == ["odder", "older", "order"]


def test_a_slip_finds_but_a_known_word_is_never_corrected() -> None:
    tools = (entry("find_stock"), entry("find_stork"), entry("get_order"))
    assert searched("stokc level", *tools) == ["find_stock"]
    assert searched("stork nest", *tools) == ["find_stork"]


def test_a_slip_is_not_corrected_to_the_word_of_a_forbidden_tool() -> None:
    index = ToolIndex([entry("feed_zebra"), entry("get_order")])
    assert names(index.search("zebrra", allowed={"feed_zebra", "get_order"})) == ["feed_zebra"]
    assert index.search("zebrra", allowed={"get_order"}) == []


# ── nothing, too much ──


@pytest.mark.parametrize("query", ["", "   ", "\n", "?!", "please", "해줘", "of the", "qwxyz", "🙂", "\ud800", "\0"])
def test_without_a_known_word_nothing_is_found(query: str) -> None:
    assert INDEX.search(query, allowed=NAMES) == []


def test_a_tag_of_signs_only_is_not_what_an_empty_query_asks_for() -> None:
    assert searched("", entry("get_order", tags=["!?"])) == []
    assert searched("", entry("___")) == []


@pytest.mark.parametrize("limit", [1, 3, 10])
def test_no_more_is_found_than_was_asked_for(limit: int) -> None:
    assert len(INDEX.search("payment order customer stock", allowed=NAMES, limit=limit)) == limit
    assert len(INDEX.matching("e", allowed=NAMES, limit=limit)) == limit


def test_five_are_found_where_nothing_else_is_said() -> None:
    assert (
        len(INDEX.search("payment order customer stock", allowed=NAMES)) == len(INDEX.matching("e", allowed=NAMES)) == 5
    )


@pytest.mark.parametrize("limit", [0, -1, 11, 10**9])
def test_a_limit_beyond_its_bounds_is_refused(limit: int) -> None:
    expected = Detail("/limit", "invalid_value", "a whole number from 1 to 10")
    assert refusal(lambda: INDEX.search("refund", allowed=NAMES, limit=limit)) == expected
    assert refusal(lambda: INDEX.matching("refund", allowed=NAMES, limit=limit)) == expected


def test_a_query_may_be_long_but_not_longer() -> None:
    assert INDEX.search("refund " + "x" * (LONGEST_QUERY - 7), allowed=NAMES) != []
    too_long = refusal(lambda: INDEX.search("refund " + "x" * (LONGEST_QUERY - 6), allowed=NAMES))
    assert too_long == Detail("/query", "invalid_value", "at most 1000 characters")


def test_two_tools_of_one_name_are_refused_at_the_start() -> None:
    with pytest.raises(InvalidConfiguration, match="Two tools are called get_order"):
        ToolIndex([entry("get_order"), entry("a"), entry("get_order", "Another")])


# ── patterns ──

LONGEST, MOST_DEAR = 200, 12
PAY = entry("refund_payment", "Refund a payment", "Pays money back.", ["돈 돌려주기", "refund"], "order id")
HOLD = entry("void_payment", "Release a hold", "Lets money go.", ["가승인 해제"], "payment id")
ORDER = entry("get_order", "Look up an order", "Reads one.", ["주문 조회"], "order id")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("^(refund|void)_", ["refund_payment", "void_payment"]),
        ("REFUND", ["refund_payment"]),
        ("(?i)Void", ["void_payment"]),
        ("(?-i:Look)", ["get_order"]),
        ("(?-i:LOOK)", []),
        ("^돈", ["refund_payment"]),
        ("조회$", ["get_order"]),
        ("^refund$", ["refund_payment"]),
        (r"\bhold\b", ["void_payment"]),
        (r"g\w+_o", ["get_order"]),
        (r"\p{Hangul}+ 해", ["void_payment"]),
        ("(?P<verb>get)_(?<what>order)", ["get_order"]),
        (r"money\.", []),
        ("[g]et_", ["get_order"]),
        ("zebra", []),
        ("\ud800", []),
        ("\0", []),
    ],
)
def test_a_pattern_is_found_in_any_text_of_a_tool(pattern: str, found: list[str]) -> None:
    assert matched(pattern, PAY, HOLD, ORDER) == found


def test_what_a_pattern_finds_in_names_comes_first_then_tags_titles_descriptions_and_arguments() -> None:
    tools = (
        entry("e_x", "", "", [], "zebra"),
        entry("d_x", "", "A zebra."),
        entry("c_x", "Zebra"),
        entry("b_x", tags=["zebra", "a"]),
        entry("zebra_x", "Zebra", "Zebra.", ["zebra"], "zebra"),
    )
    found = ToolIndex(tools).matching("zebra", allowed={each.name for each in tools})
    assert names(found) == ["zebra_x", "b_x", "c_x", "d_x", "e_x"]
    assert [each.score for each in found] == [5.0, 4.0, 3.0, 2.0, 1.0]
    assert {each.by for each in found} == {By.PATTERN}


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "(",
        "*",
        "[",
        "[]",
        "\\",
        "a{2}",
        "a{2,}",
        r"(\w*\s*){99}",
        "((a{9}){9}){9}",
        "{",
        "(?=a)",
        "(?!a)",
        "(?<=a)b",
        "(?<!a)b",
        r"(a)\1",
        "(?P=n)",
        "(?#x)",
        "(?x)#[\n" + r"\w*" * 20 + "]",
        "(?i-u:a)",
        "(?>a)",
        "a" * (LONGEST + 1),
        "a*" * (MOST_DEAR + 1),
        "[a-z]" * (MOST_DEAR + 1),
        r"\w" * (MOST_DEAR + 1),
        r"\W" * (MOST_DEAR + 1),
        r"\p{L}" * (MOST_DEAR + 1),
        "a?" * (MOST_DEAR + 1),
        "a+" * (MOST_DEAR + 1),
    ],
)
def test_a_pattern_that_is_wrong_or_could_be_dear_is_refused_without_repeating_it(pattern: str) -> None:
    expected = Detail("/pattern", "invalid_value", EXPECTED)
    assert refusal(lambda: INDEX.matching(pattern, allowed=NAMES)) == expected


@pytest.mark.parametrize(
    "pattern",
    [
        "a" * LONGEST,
        "a*" * MOST_DEAR,
        "a*?" * MOST_DEAR,
        r"\*" * 100,
        r"\{\[\(\?",
        "(a+)+" * 6,
        "|".join("abcdefgh" * 12),
    ],
)
def test_a_pattern_within_its_bounds_is_held(pattern: str) -> None:
    assert len(INDEX.matching(pattern, allowed=NAMES)) <= 5


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="a_()[]{}*+?|\\^$.-1,:<>=!#PpwdsbxiZ환\n\0\ud800", max_size=30))
def test_whatever_a_pattern_is_it_is_held_or_refused(pattern: str) -> None:
    with contextlib.suppress(CallRefused):
        assert len(SMALL_INDEX.matching(pattern, allowed=NAMES)) <= 5
