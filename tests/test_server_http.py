from __future__ import annotations

import email.utils
import json
import random
import socket
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.judges import server_http
from chaincheck.judges.server_http import Patience, said_by

_seconds = server_http._seconds
_message_in = server_http._message_in
NOW = 1_800_000_000.0


class TestPatience:
    @given(st.integers(1, 200), st.floats(0, 1, exclude_max=True))
    def test_pauses_grow_and_end_growing(self, attempt: int, drawn: float) -> None:
        patience = Patience()
        pause = patience.pause(attempt, None, drawn)
        ceiling = min(30.0, 2.0 ** (attempt - 1))
        assert ceiling / 2 <= pause <= ceiling

    def test_two_clients_do_not_come_back_at_once(self) -> None:
        draws = random.Random(0)
        pauses = {round(Patience().pause(3, None, draws.random()), 6) for _ in range(50)}
        assert len(pauses) == 50

    @given(st.floats(-10, 1e9), st.floats(0, 1, exclude_max=True))
    def test_what_a_server_asks_for_is_heeded_up_to_a_limit(
        self, asked: float, drawn: float
    ) -> None:
        pause = Patience().pause(1, asked, drawn)
        assert min(max(asked, 0), 120) <= pause <= min(max(asked, 0), 120) + 0.25


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (ssl.SSLCertVerificationError(1, "self-signed"), "certificate is not trusted"),
        (socket.gaierror(socket.EAI_NONAME, "unknown"), "no machine of this name"),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), None),
        (ConnectionRefusedError(), None),
        (ssl.SSLEOFError(8, "eof"), None),
    ],
)
def test_what_will_fail_again_is_told_from_what_may_not(cause: OSError, told: str | None) -> None:
    if isinstance(cause, ssl.SSLCertVerificationError):
        cause.verify_message = "self-signed"
    try:
        try:
            raise cause
        except OSError as inner:
            raise RuntimeError("of the library") from inner
    except RuntimeError as outer:
        found = server_http._hopeless(outer)
    assert (found is None) == (told is None)
    assert told is None or told in found[0]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        (email.utils.formatdate(NOW + 90, usegmt=True), 90.0),
        (email.utils.formatdate(NOW - 90, usegmt=True), 0.0),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
        ("1e9", None),
        ("", None),
        ("٣", None),
        ("9" * 400, 999_999_999.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert _seconds(header, NOW) == seconds


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "too long", "code": 400}}, "too long"),
        ({"error": "too long"}, "too long"),
        ({"message": "too long"}, "too long"),
        ({"detail": "too long"}, "too long"),
        ("too long", "too long"),
    ],
)
def test_a_message_is_found_in_the_common_layouts(body: object, message: str) -> None:
    assert _message_in(json.dumps(body).encode()) == message


@given(
    st.binary(max_size=60)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(["error", "message"]), inner)
        ),
    ).map(lambda value: json.dumps(value).encode())
)
def test_any_body_gives_some_message(body: bytes) -> None:
    assert isinstance(_message_in(body), bytes | str)


@given(st.text(max_size=900))
def test_what_a_server_says_fits_a_message(text: str) -> None:
    said = said_by(text)
    assert said.isprintable() and "\n" not in said and len(said) <= 301
