"""The settings file of `jobflow serve`: errors in it, and the changes that a running daemon applies on reload.

# covers: reliability.md L-17 L-22 L-26 SEC-05
"""
import http.client
import itertools
import json
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

MARKS = itertools.count()
MERGE = {"Content-Type": "application/merge-patch+json"}


def settings_may_stand_in_a_file():
    write("s.yaml", "listen: ['127.0.0.1:0']\nmax-connections: 16\nverbose: true\ntls-name: [one.example]\n")
    daemon = Daemon("--config", "s.yaml", listen=None)
    wait_until("verbose", lambda: "INFO ready" in daemon.errors())
    check_equal("a name", daemon.ask("GET", "/livez", headers={"Host": "one.example"})[0], 200)
    daemon.stop()
    other = Daemon("--config", "s.yaml", "--tls-name", "two.example", "--verbose=false", listen=None, name="other")
    check_equal("the command line wins", (daemon.errors() != "", other.errors()), (True, ""))
    check_equal("its list, too", [other.ask("GET", "/livez", headers={"Host": h})[0] for h in ("two.example", "one.example")], [200, 403])


def mistakes_are_told_with_file_line_and_name():
    for text, why in (
            ("max-pods: x", "bad.yaml:1: max-pods: \"x\" is not a whole number from 1 to 100000"),
            ("max-pods: 1.5", "bad.yaml:1: max-pods: \"1.5\" is not a whole number"),
            ("max-pods:", "bad.yaml:1: max-pods: must be a text, a number, true or false"),
            ("verbose: true\nnope: 1", "bad.yaml:2: nope: no such setting"),
            ("\n# a comment\na.b: 1", "bad.yaml:3: a.b: no such setting"),
            ("max-wachtes: 5", "bad.yaml:1: max-wachtes: no such setting; did you mean \"max-watches\"?"),
            ("config: a", "bad.yaml:1: config: no such setting"),
            ("- 1", "bad.yaml:1: settings are written as \"name: value\""),
            ("listen: {a: b}", "bad.yaml:1: listen: must be a text, a number, true or false, or a list of them"),
            ("listen:\n- 127.0.0.1:0\n- here", "bad.yaml:3: listen: \"here\" is not ADDRESS:PORT"),
            ("network: [shared]", "bad.yaml:1: network: must be a text"),
            ("network: own", "bad.yaml:1: network: \"own\" is not one of shared, private"),
            ("verbose: perhaps", "bad.yaml:1: verbose: \"perhaps\" is neither true nor false"),
            ("restart-backoff: soon", "bad.yaml:1: restart-backoff: \"soon\" is not a duration"),
            ("restart-backoff: 876601h", "bad.yaml:1: restart-backoff: \"876601h\" is not a duration"),
            ("restart-backoff: 9223372036854775", "bad.yaml:1: restart-backoff: \"9223372036854775\" is not a duration of at most 100 years"),
            ("tls-name: a b", "bad.yaml:1: tls-name: \"a b\" is neither a host name nor an address"),
            ("allow-host-path: [/a, b]", "bad.yaml:1: allow-host-path: \"b\" is no prefix of paths"),
            ("node-resources: cpu=x", "bad.yaml:1: node-resources: \"cpu=x\": the part behind = must be a quantity"),
            ("empty-dir-limit: much", "bad.yaml:1: empty-dir-limit: \"much\" is no size like 20Gi, and not none"),
            ("controllers: '*,-nobody'", "bad.yaml:1: controllers: \"-nobody\" names no controller"),
            ("verbose: true\nverbose: false", "bad.yaml: line 2, column 1: duplicate key"),
            ("a: [", "bad.yaml: line ")):
        write("bad.yaml", text + "\n")
        check_in(text, "error: " + why, jobflow("serve", "--data-dir", "x", "--config", "bad.yaml", code=2).stderr)
    check_in("no file", "none.yaml", jobflow("serve", "--data-dir", "x", "--config", "none.yaml", code=2).stderr)


class Configured(Daemon):
    """A daemon with a settings file that the cases change."""

    def __init__(self, **settings):
        self.settings = dict({"verbose": True, "listen": ["127.0.0.1:0"]}, **settings)
        self.write()
        super().__init__("--config", "s.json", listen=None)

    def write(self):
        write("s.json", json.dumps(self.settings, indent=1))

    def reload(self, **settings):
        self.settings.update(settings)
        self.write()
        return self.reload_as_it_is()

    def reload_as_it_is(self):
        """Sends SIGHUP without changing the file; returns the messages of the reload."""
        before = len(self.errors())
        self.signal(signal.SIGHUP)
        wait_until("reloaded", lambda: "reloaded" in self.errors()[before:])
        return self.errors()[before:]


def what_may_change_is_taken_by_a_daemon_at_work():
    daemon = Configured(**{"tls-name": ["one.example"], "max-pods": 8, "max-flow-steps": 2})
    big = flow("big", [step("a"), step("b"), step("c")])
    check_equal("made", daemon.ask("POST", JF, flow("f", [step("a")]))[0], 201)

    def possible():
        return {"host": [daemon.ask("GET", "/livez", headers={"Host": h})[0] for h in ("one.example", "two.example")],
                "certificate": "two.example" in str(daemon.raw().getpeercert()["subjectAltName"]),
                "update": daemon.ask("PATCH", JF + "/f?dryRun=All", {"spec": {"flows": [{"name": "b"}]}}, headers=MERGE)[0],
                "steps": daemon.ask("POST", JF + "?dryRun=All", big)[0],
                "delete": daemon.ask("DELETE", JF + "/f?dryRun=All")[0]}

    check_equal("before", possible(), {"host": [200, 403], "certificate": False, "update": 422, "steps": 422, "delete": 403})
    said = daemon.reload(**{"tls-name": ["two.example"], "jobflow-updates": "allow", "jobflow-deletion-protection": "off",
                            "max-flow-steps": 3, "max-pods": 9})
    check_equal("after", possible(), {"host": [403, 200], "certificate": True, "update": 200, "steps": 201, "delete": 200})
    for name in ("tls-name", "jobflow-updates", "jobflow-deletion-protection", "max-flow-steps"):
        check_in("said", "setting changed setting=%s\n" % name, said)
    check_in("not taken", "WARN a setting that has changed waits for the next start setting=max-pods\n", said)
    check("listen" not in said and "max-watches" not in said, "of what is the same nothing is said: " + said)
    check_in("and again", "setting=max-pods", daemon.reload())


def bounds_of_clients_follow_the_settings():
    daemon = Configured(**{"max-watches": 5, "max-connections": 16})

    def watch():
        connection = daemon.connect()
        connection.request("GET", CM + "?watch=1", headers={"Authorization": "Bearer " + daemon.token})
        return connection, connection.getresponse().status

    first = [watch() for _ in range(6)]
    check_equal("five, no more", [status for _, status in first], [200] * 5 + [429])
    daemon.reload(**{"max-watches": 6})
    more = [watch() for _ in range(2)]
    check_equal("one more", [status for _, status in more], [200, 429])


def a_file_with_a_mistake_changes_nothing():
    daemon = Configured(**{"tls-name": ["one.example"]})
    said = daemon.reload(**{"tls-name": ["two.example"], "max-watches": "many"})
    check_in("where", "ERROR settings are not taken, the earlier ones hold", said)
    check_in("where", "s.json:", said)
    check_in("what", "max-watches", said)
    check_equal("as before", daemon.ask("GET", "/livez", headers={"Host": "one.example"})[0], 200)
    write("s.json", "a: [")
    check_in("no YAML", "ERROR settings are not taken", daemon.reload_as_it_is())
    check_equal("it goes on", daemon.ask("GET", "/livez", headers={"Host": "one.example"})[0], 200)
    check_equal("made right", "ERROR" in daemon.reload(**{"max-watches": 100}), False)
    check_equal("taken", daemon.ask("GET", "/livez", headers={"Host": "two.example"})[0], 200)


def is_logged(daemon):
    """Whether requests are logged. Sends two: the first is logged before the second is answered."""
    mark, connection = "/version?n=%d" % next(MARKS), daemon.connect()
    daemon.ask("GET", mark, connection=connection)
    daemon.ask("GET", "/version", connection=connection)
    connection.close()
    return mark in daemon.errors()


def the_log_changes_its_form_and_volume():
    daemon = Configured()
    check(is_logged(daemon), "it is verbose")
    json.loads(daemon.reload(**{"log-format": "json"}).splitlines()[-1])
    daemon.settings["verbose"] = False
    daemon.write()
    daemon.signal(signal.SIGHUP)
    wait_until("it is quiet", lambda: not is_logged(daemon))


def an_address_that_is_listened_on_is_answered_to():
    daemon = Daemon(listen="127.0.0.2:0")
    check_in("its URL", "https://127.0.0.2:%d" % daemon.port, daemon.output())
    connection = http.client.HTTPSConnection("127.0.0.2", daemon.port, timeout=DEADLINE, context=daemon.tls())
    check_equal("by its address", daemon.ask("GET", "/livez", connection=connection), (200, "ok"))


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
