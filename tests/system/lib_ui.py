"""Shared code of tests of `jobflow ui`: the program behind a link, and a client that speaks to it as a browser does."""
import http.client
import json
import re
import socket
import threading

from lib import Background, check, check_equal, free_ports, wait_until

JSON = {"Content-Type": "application/json"}


class Answer:
    def __init__(self, response):
        self.status, self.headers = response.status, response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)


class Ui:
    """`jobflow ui --no-browser` in the background, with a port of its own: another test would take the usual one as soon as this one ends."""

    def __init__(self, *args, name="ui", usual_port=False, **options):
        if "--port" not in args and not usual_port:
            args += ("--port", str(free_ports(1)[0]))
        self.process = Background("ui", "--no-browser", *args, name=name, **options)
        wait_until("ui prints its link", lambda: "Ctrl-C: end" in self.process.output() or not self.process.running())
        self.link = re.search(r"http://127\.0\.0\.1:(\d+)/ui/#t=([A-Za-z0-9_-]{43})", self.process.output())
        check(self.link, "ui prints a link: %s%s" % (self.process.output(), self.process.errors()))
        self.port, self.ticket = int(self.link.group(1)), self.link.group(2)
        self.cookie = self.key = self.id = None

    def connection(self, address="127.0.0.1"):
        return http.client.HTTPConnection(address, self.port, timeout=60)

    def request(self, method, path, body=None, headers=None, host=None, address="127.0.0.1"):
        """Sends a request without a key. `headers` may contain Host and the like."""
        connection = self.connection(address)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        sent = {"Host": host or "127.0.0.1:%d" % self.port}
        sent.update(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        if body is not None:
            sent.setdefault("Content-Length", str(len(body)))
        for key, value in sent.items():
            if value is not None:
                connection.putheader(key, value)
        connection.endheaders(body)
        try:
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def redeem(self, ticket, headers=None):
        return self.request("POST", "/ui/signin", {"ticket": ticket}, dict(JSON, **(headers or {})))

    def sign_in(self):
        answer = self.redeem(self.ticket)
        check_equal("sign-in", (answer.status, answer.body[:200] if answer.status != 200 else b""), (200, b""))
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]
        self.key, self.id = answer.json()["key"], answer.json()["id"]
        return self

    def keys(self):
        return {"Cookie": self.cookie, "Jobflow-Key": self.key}

    def ask(self, method, path, body=None, headers=None):
        """Sends a request with both halves of the key."""
        return self.request(method, path, body, dict(self.keys(), **(headers or {})))

    def get(self, path, status=200):
        answer = self.ask("GET", path)
        check_equal("GET " + path, (answer.status, answer.body[:300] if answer.status != status else b""), (status, b""))
        return answer.json()

    def raw(self, data):
        """Sends bytes and returns all that comes back until the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            parts = []
            while True:
                part = connection.recv(65536)
                if not part:
                    return b"".join(parts)
                parts.append(part)

    def stop(self):
        self.process.signal(15)
        check_equal("exit code" + self.process.failure_output(), self.process.wait(), 0)


class Stream:
    """A stream of a tab, read line by line in the background."""

    def __init__(self, ui, tab="t", topics=(), connection=None):
        self.ui, self.lines, self.ended = ui, [], False
        self.names = {}  # names of the steps of flows, by their uid
        self.connection = connection or http.client.HTTPConnection("127.0.0.1", ui.port, timeout=120)
        self.connection.request("GET", "/ui/v1/stream?tab=" + tab, headers=ui.keys())
        self.response = self.connection.getresponse()
        check_equal("stream", self.response.status, 200)
        self.hello = json.loads(self.response.readline())
        threading.Thread(target=self.read, daemon=True).start()
        if topics:
            self.change(add=list(topics))

    def read(self):
        try:
            for line in iter(self.response.readline, b""):
                self.lines.append(json.loads(line))
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass
        self.ended = True

    def change(self, status=200, **body):
        answer = self.ui.ask("POST", "/ui/v1/stream/" + self.hello["id"], body, JSON)
        check_equal("change of subscriptions", (answer.status, answer.body if answer.status != status else b""), (status, b""))

    def of(self, topic):
        return [line for line in list(self.lines) if line.get("topic") == topic]

    def rows(self, topic, member="rows", key="key"):
        """What a page would show of the topic: the last value of each row."""
        rows = {}
        for line in self.of(topic):
            if line.get("reset"):
                rows = {}
            for row in line.get(member, []):
                rows[row[key]] = row
            for gone in line["gone"] if isinstance(line.get("gone"), list) else []:
                rows.pop(gone, None)
        return rows

    def vertices(self, topic):
        """The last phase of each vertex of a flow, by its number."""
        told, phases = {}, []
        for line in self.of(topic):
            if line.get("reset"):
                told = {}
            phases = line.get("phases", phases)
            for k, phase in enumerate(line.get("phase", [])):
                told[line["i"][k] if "i" in line else line["from"] + k] = phases[phase]
        return told

    def steps(self, topic):
        """The state of each step of a flow without loops."""
        namespace, name = topic.split(" ")[1].split("/")
        uid = next((line["uid"] for line in reversed(self.of(topic)) if line.get("uid")), "")
        if uid not in self.names:
            answer = self.ui.ask("GET", "/ui/api/apis/flow.volcano.sh/v1alpha1/namespaces/%s/jobflows/%s/steps" % (namespace, name))
            if answer.status != 200:
                return {}
            self.names[uid] = [step["name"] for step in answer.json()["items"]]
        told = self.vertices(topic)
        return {step: told[i] for i, step in enumerate(self.names[uid]) if i in told}

    def ready(self, topic):
        return any(line.get("ready") for line in self.of(topic))

    def last(self, kind):
        return next((line for line in reversed(list(self.lines)) if line.get("type") == kind), None)

    def close(self):
        self.connection.sock.close() if self.connection.sock else self.response.close()
