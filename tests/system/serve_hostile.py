"""Slow, broken and very many clients are refused or disconnected; the daemon's memory does not grow, and other clients are not affected.

# covers: kube-api.md 9 14 91; reliability.md L-01 L-03 L-04 L-22 L-23 L-26 L-27 L-42 SEC-10 FT-12 FT-17 G-6 P-13
"""
import contextlib
import itertools
import json
import os
import re
import socket
import ssl
import sys
import time

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

RSS_MAX = 256 << 20
numbers = itertools.count()


def connect(daemon, source="127.0.0.1", tls=True):
    s = socket.create_connection(("127.0.0.1", daemon.port), timeout=DEADLINE, source_address=(source, 0))
    return daemon.context.wrap_socket(s, server_hostname="127.0.0.1") if tls else s


def is_closed(s):
    s.setblocking(False)
    try:
        while True:
            if not s.recv(65536):
                return True
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    except OSError:
        return True


def rss(daemon):
    for line in read("/proc/%d/status" % daemon.pid).splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    raise Failure("the daemon is gone")


def good_client(daemon, times):
    """Reads and writes over the unix socket. Returns the CPU seconds of a request. A daemon that waited for the other clients would not
    answer before their timeouts.
    """
    before = cpu_seconds(daemon.pid)
    for i in range(times):
        body = json.dumps(config_map("good-%d" % next(numbers))).encode()
        asked = (b"GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" if i % 2 else
                 b"POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (CM.encode(), len(body), body))
        check_in("answer", " 20", daemon.unix(asked)[:16])
    return (cpu_seconds(daemon.pid) - before) / times


def token_of(daemon, name, role):
    return jobflow("token", "create", name, "--role", role, "--data-dir", daemon.data_dir).stdout.strip()


def daemon_with(*args):
    daemon = Daemon(*args)
    daemon.context = daemon.tls()
    return daemon


def a_thousand_slow_clients_delay_no_other_client():
    daemon = daemon_with()
    before, held = len(descriptors(daemon)) if may_see_descriptors() else 0, []
    authorization = ("Authorization: Bearer %s\r\n" % daemon.token).encode()
    kinds = [
        lambda s: s.sendall(b"G"),
        lambda s: s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: "),
        lambda s: s.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: 1000\r\n\r\n{" % (CM.encode(), authorization)),
        lambda s: s.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\n%sTransfer-Encoding: chunked\r\n\r\nffff\r\nx" % (CM.encode(), authorization)),
    ]
    for i in range(900):
        # a tenth of the connections never starts the TLS handshake
        s = connect(daemon, "127.0.1.%d" % (1 + i % 9), tls=i % 10 != 0)
        held.append(s)
        if i % 10:
            kinds[i % len(kinds)](s)
    cost = good_client(daemon, 100)
    check(cost < 0.01 * SLOW, "a request of the good client took %.3f s" % cost)
    check(rss(daemon) < RSS_MAX * SLOW, "memory: %d" % rss(daemon))
    # L-23, SEC-10: a whole head must arrive within 10 s and a body within 30 s; an occasional byte does not extend this
    began = time.monotonic()
    while time.monotonic() - began < 30 + DEADLINE and not all(is_closed(s) for s in held):
        for s in held[1::10]:
            with contextlib.suppress(OSError):
                s.setblocking(True)
                s.send(b"x")
        time.sleep(0.5)
    open_ = sum(not is_closed(s) for s in held)
    check_equal("still open after %.0f s" % (time.monotonic() - began), open_, 0)
    if may_see_descriptors():
        wait_until("descriptors are given back", lambda: len(descriptors(daemon)) <= before + 2)
    daemon.get("/version")
    check("too many connections" not in daemon.errors(), "a client was turned away")


def an_idle_connection_is_closed_for_a_new_client():
    """Silent connections of one peer, which all of 127.0.0.0/8 is, replace each other; others and the owner lose nothing."""
    daemon = daemon_with()
    kept = connect(daemon, "127.0.0.1")
    authorized = ("GET /version HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n" % token_of(daemon, "v", "viewer")).encode()
    kept.sendall(authorized)
    check_in("known", b"200 OK", kept.recv(4096))
    held = [connect(daemon, "127.0.%d.1" % (i % 250), tls=False) for i in range(300)]
    wait_until("the eldest are closed", lambda: sum(is_closed(s) for s in held) >= 300 - 256)
    check(not is_closed(held[-1]), "the newest is closed")
    with connect(daemon, "127.0.1.2") as newcomer:
        newcomer.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        check_in("a newcomer gets in", b"200 OK", newcomer.recv(4096))
    kept.sendall(authorized)
    check_in("who is known stays", b"200 OK", kept.recv(4096))
    check_in("so does the owner", "200 OK", daemon.unix(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
    wait_until("it is told", lambda: "gives up its place" in daemon.errors())
    for s in held:
        s.close()


# Holds COUNT connections to PORT from addresses of 127.0.0.0/8 and opens one anew for each that is closed; half of them send a byte.
CROWD = """
import itertools, random, select, socket, sys
port, count = int(sys.argv[1]), int(sys.argv[2])
poll = select.epoll()
held = {}

def open_one(number):
    s = socket.socket()
    s.setblocking(False)
    try:
        s.bind(("127.%d.%d.%d" % (random.randint(0, 254), random.randint(0, 254), random.randint(2, 254)), 0))
        s.connect_ex(("127.0.0.1", port))
    except OSError:
        s.close()
        return
    held[s.fileno()] = s
    poll.register(s, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLHUP | (select.EPOLLOUT if number % 2 else 0))

for number in range(count):
    open_one(number)
print("ready", flush=True)
for number in itertools.count():
    for fd, events in poll.poll():
        if events & (select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR):
            poll.unregister(fd)
            held.pop(fd).close()
            open_one(number)
        elif events & select.EPOLLOUT:
            poll.modify(fd, select.EPOLLIN | select.EPOLLRDHUP)
            held[fd].send(b"\\x16")
"""


def many_clients_without_credentials_lock_no_client_out():
    """Thousands of connections that are renewed at once: administrators get in over TCP and over the unix socket all the while."""
    count, seconds = (5000, 60) if os.environ.get("CHECK_LONG") else (1500, 3)
    daemon = daemon_with()
    with subprocess.Popen([sys.executable, "-c", CROWD, str(daemon.port), str(count)], stdout=subprocess.PIPE, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)) as crowd:
        try:
            check_equal("the crowd", crowd.stdout.readline(), "ready\n")
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                check_equal("over TCP", daemon.ask("GET", "/version")[0], 200)
                check_in("the owner", "200 OK", daemon.unix(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
        finally:
            crowd.kill()
    daemon.stop()


def watching(daemon):
    return int(re.search(r'requests_in_flight{kind="watching"} (\d+)', daemon.ask("GET", "/metrics")[1]).group(1))


def watches_are_bounded_and_stalled_ones_are_dropped():
    daemon = daemon_with()
    token = token_of(daemon, "e", "editor")
    watch = ("GET %s?watch=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n" % (CM, token)).encode()
    held = []
    for i in range(200):
        s = connect(daemon, "127.0.1.%d" % (1 + i % 2))
        held.append(s)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.sendall(watch)
        check_in("begun", b"200 OK", s.recv(400))
    with connect(daemon, "127.0.1.1") as one_more:
        one_more.sendall(watch)
        refused = one_more.recv(4096)
    check_in("one too many", b"429 Too Many Requests", refused)
    check_in("when again", b"Retry-After: 1", refused)
    cost = 0
    for n in range(60):  # the watchers do not read; each event goes to all of them
        status, _ = daemon.ask("POST", CM, config_map("big-%d" % n, v="x" * 40000))
        check_equal("write", status, 201)
        cost += good_client(daemon, 2) / 60
    check(cost < 0.05 * SLOW, "a request of the good client took %.3f s" % cost)
    with connect(daemon, "127.0.1.3") as good:
        good.sendall(watch.replace(b"?watch=1", b"?watch=1&timeoutSeconds=1"))
        check_in("the limit is for all of a user", b"429", good.recv(4096))
    with connect(daemon, "127.0.1.3") as good:
        good.sendall(watch.replace(token.encode(), daemon.token.encode()))
        check_in("but not for administrators", b"200 OK", good.recv(4096))
    for s in held[:100]:
        s.close()
    wait_until("the others' places are free", lambda: watching(daemon) <= 100)  # fewer, after stalled watchers are disconnected
    check(rss(daemon) < 3 * RSS_MAX, "memory: %d" % rss(daemon))
    daemon.stop()


def what_is_too_large_is_refused_before_it_is_sent():
    """The cases never send a body, so an answer shows that the daemon did not wait for one."""
    daemon = daemon_with()
    mine = "Authorization: Bearer %s\r\n" % daemon.token
    viewer = "Authorization: Bearer %s\r\n" % token_of(daemon, "v", "viewer")
    cases = [
        ("too large", CM, mine + "Content-Length: %d" % (3 * 1024 * 1024 + 1), "413"),
        ("ten times too large", CM, mine + "Content-Length: %d" % (30 << 20), "413"),
        ("beyond any number", CM, mine + "Content-Length: %d" % 10**17, "413"),
        ("no number at all", CM, mine + "Content-Length: %d" % 10**30, "400"),
        ("a flow too large", JF, mine + "Content-Length: %d" % ((64 << 20) + 1), "413"),
        ("without a credential", CM, "Content-Length: 1000000", "403"),
        ("with an unknown credential", CM, "Authorization: Bearer x\r\nTransfer-Encoding: chunked", "401"),
        ("from one who may only look", CM, viewer + "Content-Length: 1000000", "403"),
        ("a long path", "/api/" + "x" * 8192, mine + "X: y", "414"),
        ("a large head", "/api", mine + "X: " + "y" * 33000, "431"),
        ("many headers", "/api", mine + "\r\n".join("X-%d: y" % i for i in range(100)), "431"),
    ]
    for name, path, heads, status in cases:
        with connect(daemon) as s:
            s.sendall(("POST %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n" % (path, heads)).encode())
            answer = b""
            while not answer.endswith(b"}\n") and not answer.endswith(b"}"):
                part = s.recv(65536)
                check(part, "%s: closed after %r" % (name, answer))
                answer += part
        check_equal(name, answer.split()[1].decode(), status)
        check_in(name, b'"kind":"Status"', answer)
    check(rss(daemon) < RSS_MAX * SLOW, "memory: %d" % rss(daemon))


def descriptors_are_kept_for_work():
    """L-42: with a limit of 160 descriptors the daemon refuses connections before the store and the pods run out of descriptors."""
    daemon = Daemon(prefix=["prlimit", "--nofile=160:160"])
    daemon.context = daemon.tls()
    held = []
    for i in range(200):
        with contextlib.suppress(OSError):
            held.append(connect(daemon, "127.0.1.%d" % (1 + i % 4), tls=False))
    wait_until("some are turned away", lambda: "gives up its place" in daemon.errors())
    in_use = len(descriptors(daemon))
    check(in_use <= 160 - 60, "%d descriptors are in use" % in_use)
    for s in held:
        s.close()
    wait_until("the others get in again", lambda: len(descriptors(daemon)) < 60)
    status, text = daemon.ask("GET", "/metrics")
    check_equal("it works on", status, 200)
    check(not re.search(r"connections_refused_total 0$", text, re.M), "counted")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
