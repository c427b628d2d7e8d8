"""Every way to a tool's handler, found in the code itself: there is one, and the gate stands in it.

A tool can be had from the toolbox only, the toolbox is handed to the steps only, and of the steps one function sends
and one reads. All of this is read off the syntax tree, so whoever makes a new way has to write it down here first.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("workflows", "activities", "adapters", "worker")
DOORS = ("adapters/http/", "adapters/intake/", "adapters/envelopes/", "adapters/client/")

STEPS = ["Validate", "Apply", "Reconcile", "Settle", "Read"]
THE_SEND = ("activities/apply.py", "Apply._hand_over")
THE_READ = ("activities/read.py", "Read._run")
THE_WIRING = ("worker/wiring.py", "worker")


class Mention(NamedTuple):
    """A name, or an attribute of something, where a function makes use of it."""

    file: str
    function: str
    node: ast.Name | ast.Attribute

    @property
    def name(self) -> str:
        return self.node.id if isinstance(self.node, ast.Name) else self.node.attr

    @property
    def of(self) -> str:
        """What it is an attribute of, in the words of the code."""
        return "" if isinstance(self.node, ast.Name) else ast.unparse(self.node.value)

    @property
    def place(self) -> tuple[str, str]:
        return self.file, self.function


def mentions_in(file: str, node: ast.AST, within: tuple[str, ...] = ()) -> Iterator[Mention]:
    for child in ast.iter_child_nodes(node):
        inside = within
        if isinstance(child, ast.Attribute | ast.Name):
            yield Mention(file, ".".join(within), child)
        elif isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            inside = (*within, child.name)
        yield from mentions_in(file, child, inside)


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))):
        yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))


TREES = dict(trees())
CALLS = {id(node.func): node for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.Call)}
"""By what is called."""

MENTIONS: defaultdict[str, list[Mention]] = defaultdict(list)
for each_file, each_tree in TREES.items():
    for each_mention in mentions_in(each_file, each_tree):
        MENTIONS[each_mention.name].append(each_mention)


def mentions(name: str, *, under: str = "") -> list[Mention]:
    return [each for each in MENTIONS[name] if each.file.startswith(under)]


def attributes(name: str, *, under: str = "") -> list[Mention]:
    """Where it is asked of something, called or handed on."""
    return [each for each in mentions(name, under=under) if isinstance(each.node, ast.Attribute)]


def is_called(mention: Mention) -> bool:
    return id(mention.node) in CALLS


def places(found: Iterable[Mention]) -> set[tuple[str, str]]:
    return {each.place for each in found}


def imports(file: str) -> set[str]:
    """Modules that a file names in its imports, those inside functions included."""
    nodes = list(ast.walk(TREES[file]))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named = [(node.module or "", node.names) for node in nodes if isinstance(node, ast.ImportFrom)]
    return (
        plain | {module for module, _ in named} | {f"{module}.{each.name}" for module, names in named for each in names}
    )


# -- the handler


def test_one_function_sends() -> None:
    assert places(attributes("apply")) == {THE_SEND, THE_WIRING}
    (step,) = [each for each in attributes("apply") if each.place == THE_WIRING]
    assert step.of.startswith("Apply("), "the wiring names the step, not a tool's handler"


def test_one_function_reads() -> None:
    assert places(attributes("read", under="activities/")) == {THE_READ}


@pytest.mark.parametrize("name", ["writer", "reader"])
def test_a_tool_is_had_by_steps_only(name: str) -> None:
    assert {each.file.split("/")[0] for each in attributes(name)} == {"activities"}


@pytest.mark.parametrize("name", ["_readers", "_writers"])
def test_nobody_looks_into_the_toolbox(name: str) -> None:
    assert {each.file for each in mentions(name)} == {"adapters/tools/toolbox.py"}


def test_no_handler_is_reached_by_a_name_that_is_put_together() -> None:
    ways = ("getattr", "attrgetter", "methodcaller", "eval", "exec", "vars", "__getattribute__", "__dict__")
    found = [each for way in ways for each in mentions(way)]
    assert [each.place for each in found if each.file.startswith(("activities/", *DOORS[:3]))] == []
    named = [argument for each in found if is_called(each) for argument in CALLS[id(each.node)].args]
    words = {argument.value for argument in named if isinstance(argument, ast.Constant)}
    assert words.isdisjoint({"apply", "read", "writer", "reader"})


# -- the tools


def tool_classes() -> dict[str, str]:
    """Each class that is a tool, with its file: it declares a contract and has a handler."""
    return {
        node.name: file
        for file, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and declares_a_contract(node) and has_a_handler(node)
    }


def declares_a_contract(tool: ast.ClassDef) -> bool:
    targets = [target for node in tool.body if isinstance(node, ast.Assign) for target in node.targets]
    return any(isinstance(target, ast.Name) and target.id == "contract" for target in targets)


def has_a_handler(tool: ast.ClassDef) -> bool:
    return any(isinstance(node, ast.AsyncFunctionDef) and node.name in ("apply", "read") for node in tool.body)


def test_the_shipped_tools_are_found() -> None:
    assert {"GetOrder", "PrepareRefund", "RefundPayment", "GetCreditBalance", "CreditAccount"} <= tool_classes().keys()


@pytest.mark.parametrize("tool", sorted(tool_classes()))
def test_a_tool_is_made_where_its_family_is_connected_and_nowhere_else(tool: str) -> None:
    for made in [each for each in mentions(tool) if is_called(each)]:
        assert made.function == "connect"
        assert made.file.startswith("adapters/tools/")
    assert [each for each in mentions(tool) if not is_called(each) and not is_asked_for_its_contract(each)] == []


def is_asked_for_its_contract(mention: Mention) -> bool:
    return any(getattr(each.node, "value", None) is mention.node for each in attributes("contract"))


def test_families_are_connected_by_the_worker_and_by_nobody_else() -> None:
    assert places(each for each in attributes("connect") if "amil" in each.of) == {("worker/wiring.py", "toolbox")}
    assert places(mentions("Toolbox")) == {("worker/wiring.py", "toolbox"), THE_WIRING}
    assert places(mentions("toolbox")) == {("worker/__main__.py", "main")}


def test_the_toolbox_is_handed_to_steps_and_to_nobody_else() -> None:
    tools = [each.node for each in mentions("tools") if each.place == THE_WIRING]
    takers = [ast.unparse(call.func) for call in CALLS.values() for given in call.args if given in tools]
    assert sorted(takers) == sorted(STEPS)
    assert len(tools) == len(takers)


def test_a_worker_offers_these_steps_and_no_other() -> None:
    (worker,) = [CALLS[id(each.node)] for each in mentions("Worker") if is_called(each)]
    offered = {keyword.arg: keyword.value for keyword in worker.keywords if keyword.arg in ("activities", "workflows")}
    activities, workflows = offered["activities"], offered["workflows"]
    assert isinstance(activities, ast.List)
    # The one that is no step on an operation follows others, and has no tools to call.
    assert [ast.unparse(step).split("(")[0] for step in activities.elts] == [*STEPS, "Follow"]
    assert ast.unparse(workflows) == "[ExecuteOperation, ExecuteTurn]"
    assert {each.file for each in attributes("worker") if each.of == "wiring"} == {"worker/__main__.py"}


# -- what stands behind a tool


def test_what_a_handler_sends_nothing_else_sends() -> None:
    """The call that changes something downstream is one that only `apply` makes."""
    for file in set(tool_classes().values()):
        own = [each for found in MENTIONS.values() for each in found if each.file == file]
        clients = [each for each in own if each.of.startswith("self._")]
        sent = {each.name for each in clients if each.function.endswith(".apply")}
        assert places(each for each in clients if each.name in sent) == places(
            each for each in clients if each.function.endswith(".apply")
        )


def test_clients_of_what_can_be_changed_are_for_tools_only() -> None:
    users = {file for file in TREES if any(name.startswith("adapters.downstream") for name in imports(file))}
    assert {file for file in users if not file.startswith(("adapters/downstream/", "adapters/tools/"))} == {
        # The sample accounts of a development machine: their table, and no client.
        "worker/dev/seed.py"
    }


@pytest.mark.parametrize("door", DOORS)
def test_no_door_knows_a_tool_or_what_stands_behind_it(door: str) -> None:
    named = {name for file in TREES if file.startswith(door) for name in imports(file)}
    assert [name for name in named if name.startswith(("adapters.tools", "adapters.downstream", "worker"))] == []


# -- the gate in the way


def test_the_sentence_of_the_gate_is_asked_where_a_clearance_is_left() -> None:
    assert places(mentions("may_execute")) == {
        ("activities/inspection.py", "Look.may_execute"),
        ("activities/validate.py", "Validate._pass"),
    }
    assert {each.file for each in mentions("Clearance") if is_called(each)} == {"activities/validate.py"}


def test_a_clearance_is_left_once_and_only_after_that_sentence() -> None:
    (asked,) = attributes("may_execute")
    recorded = [each for each in attributes("record") if each.of.endswith("_operations")]
    (left,) = [each for each in recorded if ast.unparse(CALLS[id(each.node)].args[-1]) != "None"]
    assert left.place == asked.place
    assert asked.node.lineno < left.node.lineno


def test_a_claim_is_taken_in_one_place_and_every_send_begins_under_it() -> None:
    assert {each.file for each in mentions("acquire", under="activities/")} == {"activities/apply.py"}
    assert len(mentions("acquire", under="activities/")) == 1
    (begun,) = mentions("begin_send", under="activities/")
    (sent,) = [each for each in attributes("apply") if each.place == THE_SEND]
    assert begun.place == THE_SEND
    assert begun.node.lineno < sent.node.lineno
