import socket

import pytest

from worker.dev.errors import NoSuchPort, PortForbidden, PortTaken
from worker.dev.ports import HOST, NAMES, RANGE, find, is_free, settle


def test_every_name_gets_a_port_of_its_own() -> None:
    settled = settle({}, {})
    assert set(settled) == set(NAMES)
    assert len(set(settled.values())) == len(NAMES)
    assert all(port in RANGE for port in settled.values())


def test_ports_of_last_time_are_kept() -> None:
    first = settle({}, {})
    assert settle(first, {}) == first


def test_a_port_of_last_time_that_is_taken_is_replaced() -> None:
    first = settle({}, {})
    again = settle(first, {}, free=lambda port: port != first["postgres"])
    assert again["postgres"] != first["postgres"]
    assert {name: port for name, port in again.items() if name != "postgres"} == {
        name: port for name, port in first.items() if name != "postgres"
    }


def test_a_port_that_was_asked_for_wins_over_the_one_of_last_time() -> None:
    assert settle({"api": 20_001}, {"api": 20_002}, free=lambda _: True)["api"] == 20_002


def test_a_port_that_was_asked_for_is_not_given_to_another_name() -> None:
    settled = settle({"postgres": 20_002}, {"api": 20_002}, free=lambda _: True)
    assert settled["postgres"] != 20_002


def test_a_taken_port_that_was_asked_for_is_refused_with_its_option() -> None:
    with pytest.raises(PortTaken, match=r"Port 8233 is in use .* --console-port"):
        settle({}, {"console": 8233}, free=lambda _: False)


@pytest.mark.parametrize("port", [-1, 0, 65_536, 99_999])
def test_a_number_that_is_no_ports_is_refused_with_its_option(port: int) -> None:
    with pytest.raises(NoSuchPort, match=r"There is no port .* --port a number from 1 to 65535"):
        settle({}, {"api": port})


def test_a_port_that_this_user_may_not_have_is_not_said_to_be_in_use() -> None:
    with pytest.raises(PortForbidden, match=r"Port 80 is not permitted .* --port") as refused:
        settle({}, {"api": 80}, free=lambda _: False, permitted=lambda _: False)
    assert "in use" not in str(refused.value)


def test_one_port_cannot_be_asked_for_twice() -> None:
    with pytest.raises(PortTaken):
        settle({}, {"api": 20_002, "console": 20_002}, free=lambda _: True)


def test_finding_ends_when_nothing_is_free() -> None:
    with pytest.raises(PortTaken):
        find([], free=lambda _: False)


def test_a_port_on_which_somebody_listens_is_not_free() -> None:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen()
        assert not is_free(listener.getsockname()[1])
