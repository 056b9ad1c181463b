"""Many clients at once: a thousand watchers receive every event in time, and no concurrent update is lost.

# covers: kube-api.md 90 112
"""
import http.client
import json
import os
import resource
import selectors
import socket
import sys
import threading
import time

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

WATCHERS, RATE, SECONDS = 1000, 50, 10


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=DEADLINE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(DEADLINE)
        self.sock.connect(self.path)


def ask(connection, method, path, body=None):
    connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def fifty_clients_that_count_lose_no_step():
    daemon = Daemon(listen="none")
    path = os.path.relpath("d/api.sock")
    status, _ = ask(UnixConnection(path), "POST", CM, config_map("counter", n="0"))
    check_equal("made", status, 201)
    clients, steps, failures = 50, 4, []

    def count():
        connection, left = UnixConnection(path), steps
        while left:
            _, counter = ask(connection, "GET", CM + "/counter")
            counter["data"]["n"] = str(int(counter["data"]["n"]) + 1)
            status, answer = ask(connection, "PUT", CM + "/counter", counter)
            if status == 200:
                left -= 1
            elif status != 409:
                failures.append(answer)
                return

    threads = [threading.Thread(target=count) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check_equal("failures", failures, [])
    check_equal("the sum", ask(UnixConnection(path), "GET", CM + "/counter")[1]["data"]["n"], str(clients * steps))
    check(daemon.running(), "the daemon runs")


def resident(pid):
    with open("/proc/%d/statm" % pid, encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def a_thousand_watchers_see_every_change_in_time():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < WATCHERS + 200:
        raise Skip("at most %d files may be open here" % hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    daemon = Daemon(listen="none")
    path = os.path.relpath("d/api.sock")
    writer = UnixConnection(path)
    check_equal("made", ask(writer, "POST", CM, config_map("c", n="0"))[0], 201)
    before = resident(daemon.pid)
    selector, watchers = selectors.DefaultSelector(), []
    for _ in range(WATCHERS):
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        s.sendall(b"GET %s?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n" % CM.encode())
        s.setblocking(False)
        watchers.append(s)
        selector.register(s, selectors.EVENT_READ, [0, b""])
    sent, late = {}, []
    stopping = threading.Event()

    def write_changes():
        for n in range(1, RATE * SECONDS + 1):
            sent[n] = time.monotonic()
            ask(writer, "PUT", CM + "/c", config_map("c", n=str(n)))
            stopping.wait(max(0.0, sent[1] + n / RATE - time.monotonic()))

    def read_all(until):
        """Reads all events of all watchers and checks that each watcher gets the numbers in order."""
        left = WATCHERS
        while left:
            ready = selector.select(DEADLINE)
            check(ready, "%d watchers wait in vain" % left)
            now = time.monotonic()
            for key, _ in ready:
                state = key.data
                data = state[1] + key.fileobj.recv(1 << 20)
                *whole, state[1] = data.split(b"\n")
                for line in whole:
                    at = line.find(b'"data":{"n":"')
                    if at < 0:
                        continue
                    number = int(line[at + 13:line.index(b'"', at + 13)])
                    check(number == state[0] + 1 or number == state[0] == 0, "%d came after %d" % (number, state[0]))
                    if number:
                        late.append(now - sent[number])
                    state[0] = number
                    if number == until:
                        left -= 1

    def begun():
        """Waits until each watcher has received its response headers and the first object."""
        for key, _ in selector.select(1):
            key.data[1] += key.fileobj.recv(1 << 16)
        return all(b'"n":"0"' in key.data[1] for key in selector.get_map().values())

    wait_until("all watch", begun)
    thread = threading.Thread(target=write_changes)
    thread.start()
    try:
        read_all(RATE * SECONDS)
    finally:
        stopping.set()
        thread.join()
    late.sort()
    check_equal("events", len(late), WATCHERS * RATE * SECONDS)
    grown = resident(daemon.pid) - before
    print("  p50 %.0f ms, p99 %.0f ms, grown by %.1f MB" % (late[len(late) // 2] * 1e3, late[len(late) * 99 // 100] * 1e3, grown / 1e6))
    if SLOW == 1:  # sanitizers keep freed memory in quarantine
        check(grown < 50e6, "the daemon grew by %d bytes" % grown)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
