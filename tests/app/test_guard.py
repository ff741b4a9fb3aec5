"""Only pages of the server itself, in the browser that has its token, get an answer."""

import random
import sys
import time
from urllib.parse import quote

import pytest

from lamina.app import shelf

#: The headers of a browser that was not let in, beside those of the app's own pages.
STRANGER = {"Cookie": None, "X-Lamina-Token": None, "Origin": None}
CHANGING = ["/api/tables", "/api/tables/choose", "/api/jobs", "/api/jobs/1/stop", "/api/run/again", "/api/run/open"]
READING = ["/", "/static/common.js", "/api/folder", "/api/events", "/run/x", "/api/run?name=x", "/api/run/zip?name=x"]


def test_the_address_that_is_printed_leads_in_once(new_server):
    status, headers, _ = new_server.ask(new_server.address.removeprefix(new_server.base), headers=STRANGER)
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    another = new_server.next_address()
    for used in new_server.used_address, new_server.address:
        status, headers, text = new_server.ask(used.removeprefix(new_server.base), headers=STRANGER)
        assert (status, headers.get("set-cookie")) == (403, None)
        assert b"newest address" in text
    assert new_server.enter(another) == new_server.token


def test_a_browser_that_is_in_may_follow_a_used_address(server):
    status, headers, _ = server.ask(server.used_address.removeprefix(server.base), headers={"Origin": None})
    assert (status, headers["location"]) == (303, "/")
    status, _, page = server.ask("/", headers={"Origin": None, "X-Lamina-Token": None})
    assert status == 200
    assert server.token.encode() in page  # for its scripts


def test_the_arguments_of_no_process_hold_a_token_that_still_works(start, tmp_path):
    # A browser that follows the address, and writes down how it was started.
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(
        f"#!{sys.executable}\nimport sys, urllib.request, pathlib\n"
        "page = urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(sys.argv[1])\n"
        f"pathlib.Path({str(opened)!r}).write_text(f'{{sys.argv[1]}} {{page.status}}')\n"
    )
    browser.chmod(0o755)
    running = start(browser=str(browser))
    until = time.monotonic() + 30.0
    while not opened.exists() or not opened.read_text():
        assert time.monotonic() < until
        time.sleep(0.05)
    given, status = opened.read_text().split()
    assert status == "200"
    assert given not in (running.used_address, running.address)  # what is printed is in no argument
    assert running.token not in given
    assert running.enter(given) == ""
    assert running.enter(running.address) == running.token  # the browser has not used up the printed one


@pytest.mark.parametrize("path", READING)
def test_without_the_cookie_nothing_is_shown(server, path):
    for cookie in None, f"lamina-{server.port}=guess", f"lamina={server.token}", "=;=":
        assert server.ask(path, headers={"Cookie": cookie})[0] == 403
    assert server.ask("/?token=guess", headers={"Cookie": None})[0] == 403


def test_cookies_of_other_servers_on_this_machine_do_not_lock_it(server):
    for other in '{"a": [1, 2]}', "a b=c", "x[]={1}", 'a@b="':
        assert server.ask("/api/folder", headers={"Cookie": f"{other}; lamina-{server.port}={server.token}"})[0] == 200


@pytest.mark.parametrize("path", CHANGING)
def test_a_post_of_another_site_is_refused(server, path):
    # A form or a script elsewhere has neither the header nor this origin, even if the browser adds the cookie.
    assert server.ask(path, {}, headers={"X-Lamina-Token": None})[0] == 403
    assert server.ask(path, {}, headers={"X-Lamina-Token": "guess"})[0] == 403
    for origin in (
        "https://example.org",
        "null",
        f"http://localhost:{server.port + 1}",
        f"http://127.0.0.1:{server.port}.a",
    ):
        assert server.ask(path, {}, headers={"Origin": origin})[0] == 403
    assert server.ask(path, {}, headers={"Sec-Fetch-Site": "cross-site"})[0] == 403


@pytest.mark.parametrize("path", READING)
def test_a_page_of_another_site_cannot_embed_what_is_here(server, path):
    # Another port of this machine is another origin but the same site: the browser sends it the cookie.
    for site in "cross-site", "same-site":
        assert server.ask(path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Origin": None})[0] == 403


@pytest.mark.parametrize("path", [*READING[:4], *CHANGING[:2]])
def test_a_name_that_was_pointed_to_this_machine_is_refused(server, path):
    body = {} if path in CHANGING else None
    for host in "example.org", f"example.org:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}", "":
        assert server.ask(path, body, headers={"Host": host, "Origin": None})[0] == 403


def test_the_server_also_answers_to_localhost(server):
    own = {"Host": f"localhost:{server.port}", "Origin": f"http://localhost:{server.port}"}
    assert server.ask("/api/folder", headers=own)[0] == 200


@pytest.mark.parametrize("path", ["/", "/static/app.css", "/api/folder", "/nowhere", "/table/none"])
def test_every_answer_has_the_headers_that_protect_it(server, path):
    _, headers, _ = server.ask(path)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_it_listens_on_this_machine_only(server):
    import psutil

    listening = [one for one in psutil.Process(server.process.pid).net_connections("inet") if one.status == "LISTEN"]
    assert [one.laddr.ip for one in listening] in (["127.0.0.1"], [])  # some systems do not tell


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("core.csv", "core.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\Core 1.xlsx", "Core 1.xlsx"),
        ("/", "table-"),
        ("..", "table-"),
        (".bashrc", "bashrc"),
        ("-rf.csv", "rf.csv"),
        ("a\0b\n<c>.csv", "a_b__c_.csv"),
        ("nul.txt", "table-nul.txt"),
        ("Größe Ω.csv", "Größe Ω.csv"),
        ("", "table-"),
    ],
)
def test_a_table_has_a_name_and_never_a_path(given, kept):
    assert shelf.safe_name(given) == kept


def test_long_names_are_cut_and_keep_their_ending():
    for text in "a" * 5000, "界" * 5000:
        name = shelf.safe_name(f"{text}.xlsx")
        assert name.endswith(".xlsx")
        assert len(name.encode()) <= 200


def test_names_of_files_and_runs_do_not_leave_the_folder(server, tmp_path):
    (tmp_path / "run.json").write_text('{"files": {"secret": 1}}')
    (tmp_path / "secret").write_text("x")
    away = [str(tmp_path), "../" + tmp_path.name, "..", ".", "", "x/../..", "a/b/c", "\0"]
    for name in away:
        assert server.ask(f"/api/run?name={quote(name, safe='')}")[0] == 400
        assert server.ask(f"/api/run/zip?name={quote(name, safe='')}")[0] == 400
    for name in "../x", "/etc/passwd", "..", "":
        assert server.ask("/api/tables/choose", {"name": name})[0] == 400
    for name in "../__init__.py", "..%2F__init__.py", "%2e%2e/app.css":
        assert server.ask(f"/static/{name}")[0] == 404


def test_tables_that_are_too_large_or_empty_are_refused(new_server, monkeypatch):
    assert new_server.ask("/api/tables", b"")[0] == 400
    status, _, answer = new_server.ask("/api/tables/choose", b" " * 2_000_000)
    assert (status, b"too large" in answer) == (400, True)


async def _chunks(*parts):
    for part in parts:
        yield part


def test_an_upload_has_a_limit_whatever_it_says_of_its_size(tmp_path, monkeypatch):
    import asyncio

    monkeypatch.setattr(shelf, "MOST_TABLE_BYTES", 10)
    held = shelf.Shelf(tmp_path)
    with pytest.raises(shelf.ShelfError, match="has more than"):
        asyncio.run(held.receive("a.csv", _chunks(b"123456", b"78901")))
    assert list(held.spool.iterdir()) == []
    taken = asyncio.run(held.receive("a.csv", _chunks(b"12345", b"67890")))
    assert taken.path.read_bytes() == b"1234567890"
    held.close()
    assert not held.spool.exists()


def test_fifty_uploads_of_noise_leave_it_standing(server):
    rng = random.Random(1)
    endings = [".csv", ".xlsx", ".lpd", ".txt", ".rlr", ""]
    for k in range(50):
        noise = rng.randbytes(rng.choice([1, 100, 10_000]))
        if k % 3 == 0:
            noise = noise.replace(b"\0", b",").decode("latin-1").encode()
        found = server.read(server.put(f"noise{k}{endings[k % len(endings)]}", noise))
        assert found.get("error") or found["problems"]
    assert server.ask("/")[0] == 200
    assert server.json("/api/folder")["tables"] == []  # nothing of it has come into the folder
