"""Who may use the page: hosts, sites and tokens; and what its answers forbid the browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.dashboard.asking import Answer, Site, site

TOKEN = "correct horse battery staple"


@pytest.fixture(scope="module")
def page() -> Iterator[Site]:
    """Return a page without a token, whose cloud no test changes."""
    with site() as made:
        yield made


@pytest.fixture(scope="module")
def guarded() -> Iterator[Site]:
    """Return a page with a token, which others could reach."""
    with site("--dashboard", "0.0.0.0:0", variables={"MOCKDRIVER_DASHBOARD_TOKEN": TOKEN}) as made:
        yield made


def attach(page: Site, **headers: str) -> Answer:
    """Try to change the cloud."""
    return page.call("Cloud/Attach", {"instance": "i-1", "disk": "vol-x"}, **headers)


def is_attached(page: Site, **headers: str) -> bool:
    """Tell whether the change was made."""
    instance = page.call("Cloud/GetInstance", {"id": "i-1"}, **headers).json
    return any(item["disk"] == "vol-x" for item in instance["attachments"])


@pytest.mark.parametrize("host", ["evil.example.com", "evil.example.com:80", "10.0.0.1", ""])
@pytest.mark.parametrize("path", ["/", "/static/main.js", "/api/batch", "/login"])
def test_a_name_of_another_site_that_leads_here_is_refused(
    host: str, path: str, page: Site
) -> None:
    answer = page.ask("GET", path, Host=host)

    assert answer.status == 421
    assert answer.json["error"] == "WrongHost"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:99"])
def test_other_names_of_this_machine_are_let_in(host: str, page: Site) -> None:
    assert page.ask("GET", "/", Host=host).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example.com"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_a_change_from_a_page_of_another_site_is_refused(
    headers: dict[str, str], page: Site
) -> None:
    answer = attach(page, **headers)

    assert answer.status == 403
    assert answer.json["error"] == "CrossSite"
    assert not is_attached(page)


def test_a_change_from_the_own_page_is_made() -> None:
    with site() as page:
        answer = attach(page, Origin=f"http://{page.host}", Sec_Fetch_Site="same-origin")

        assert answer.status == 200
        assert is_attached(page)


@pytest.mark.parametrize("path", ["/", "/static/style.css", "/static/none.js", "/none"])
def test_every_answer_forbids_what_is_not_needed(path: str, page: Site) -> None:
    headers = page.ask("GET", path).headers

    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert re.findall(r"[a-z]+://|\*", policy) == []
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in headers
    assert "uvicorn" not in (headers["Server"] or "")


def test_no_other_method_changes_or_tells_anything(page: Site) -> None:
    assert page.ask("OPTIONS", "/api/batch").status == 405
    assert page.ask("PUT", "/").status == 405
    assert page.ask("GET", "/api/batch").status in (404, 405)


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/..%2fapp.py", "/static//etc/passwd", "/static/"]
)
def test_no_other_files_are_served(path: str, page: Site) -> None:
    assert page.ask("GET", path).status in (404, 405)


def test_without_the_token_nothing_is_shown_or_done(guarded: Site) -> None:
    for answer in (
        guarded.call("Cloud/GetCloud"),
        attach(guarded),
        guarded.ask("GET", "/static/main.js"),
        guarded.call("Cloud/GetCloud", Authorization="Bearer wrong"),
        guarded.call("Cloud/GetCloud", Authorization=f"Basic {TOKEN}"),
        guarded.call("Cloud/GetCloud", Cookie=f"mockdriver-{guarded.port}={TOKEN}"),
        guarded.call("Cloud/GetCloud", Cookie=f"mockdriver-{guarded.port}="),
        guarded.call("Cloud/GetCloud", Cookie="=;=;{}"),
        guarded.call("Cloud/GetCloud", Authorization="Bearer "),
    ):
        assert answer.status == 401
        assert answer.json["code"] == "UNAUTHENTICATED"
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_program_gives_the_token_as_a_header(guarded: Site) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}

    assert guarded.call("Cloud/GetCloud", **headers).json["instances"] == "2"


def test_a_browser_gives_it_once_and_gets_a_cookie(guarded: Site) -> None:
    first = guarded.ask("GET", "/")
    assert (first.status, first.headers["Location"]) == (303, "/login")
    assert b"token" in guarded.ask("GET", "/login").body

    wrong = login(guarded, "wrong")
    assert (wrong.status, wrong.headers["Location"]) == (303, "/login?wrong")
    assert wrong.headers["Set-Cookie"] is None

    right = login(guarded, TOKEN)
    assert (right.status, right.headers["Location"]) == (303, "/")
    cookie = right.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert guarded.ask("GET", "/", Cookie=cookie.partition(";")[0]).status == 200


def login(page: Site, token: str, **headers: str) -> Answer:
    """Send the form."""
    body = "token=" + token.replace(" ", "+")
    headers = {"Content_Type": "application/x-www-form-urlencoded", **headers}
    return page.ask("POST", "/login", body, **headers)


def test_a_page_of_another_site_cannot_sign_in(guarded: Site) -> None:
    assert login(guarded, TOKEN, Origin="http://evil.example.com").status == 403


def test_a_cookie_of_another_server_is_worth_nothing(guarded: Site) -> None:
    with site(variables={"MOCKDRIVER_DASHBOARD_TOKEN": TOKEN}) as other:
        cookie = login(other, TOKEN).headers["Set-Cookie"].partition(";")[0]
        value = cookie.partition("=")[2]
        renamed = f"mockdriver-{guarded.port}={value}"

        assert other.call("Cloud/GetCloud", Cookie=cookie).status == 200
        assert guarded.call("Cloud/GetCloud", Cookie=renamed).status == 401


def test_where_no_token_is_needed_there_is_nothing_to_sign_in_to(page: Site) -> None:
    assert page.ask("GET", "/login").headers["Location"] == "/"
    assert login(page, "anything").headers["Set-Cookie"] is None


def test_the_token_is_in_no_log_and_no_ready_file(guarded: Site) -> None:
    login(guarded, TOKEN)

    said = guarded.server.log() + guarded.server.printed()
    said += (guarded.server.folder / "r.json").read_text(encoding="utf-8")
    assert TOKEN not in said
