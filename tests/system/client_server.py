"""The jobflow client against a server that is busy, refuses its credentials, or has a certificate for another name.

# covers: reliability.md SEC-34; kube-api.md 134 138
"""
import http.server
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_tools import need_openssl  # noqa: E402: sys.path is set above

LIST = {"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": [
    {"metadata": {"name": "found", "namespace": "default", "uid": "u", "resourceVersion": "1"}}]}


class Scripted:
    """An API server over TLS that answers with one status after the other, then with a list."""

    def __init__(self, *answers, name="localhost"):
        need_openssl()
        self.left, self.seen, self.paths = list(answers), [], []
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=" + name, "-addext", "subjectAltName=DNS:" + name, "-keyout", "key.pem", "-out", "cert.pem"],
                       check=True, capture_output=True)
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.seen.append((time.monotonic(), dict(self.headers)))
                outer.paths.append(self.path)
                status, headers = outer.left.pop(0) if outer.left else (200, {})
                body = json.dumps(LIST if status == 200 else {"kind": "Status", "status": "Failure", "message": "not now", "code": status})
                self.send_response(status)
                for key, value in dict(headers, **{"Content-Type": "application/json", "Content-Length": len(body)}).items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("cert.pem", "key.pem")
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def kubeconfig(self, user, host="localhost", **cluster):
        write("config", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": dict({"server": "https://%s:%d" % (host, self.http.server_port),
                                                        "certificate-authority": "cert.pem"}, **cluster)}],
            "users": [{"name": "u", "user": user}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
        return os.path.abspath("config")


def get(kubeconfig, code=0, **env):
    return jobflow("get", "cm", "--kubeconfig", kubeconfig, "-o", "name", code=code, env=env)


def a_busy_server_is_asked_again_when_it_says():
    server = Scripted((429, {"Retry-After": 1}), (503, {"Retry-After": 1}))
    check_equal("found", get(server.kubeconfig({"token": "t"})).stdout, "configmap/found\n")
    times = [at for at, _ in server.seen]
    check_equal("requests", len(times), 3)
    check(times[1] - times[0] >= 1 and times[2] - times[1] >= 1, "waited as told")


def a_server_that_gives_no_time_is_not_asked_again():
    server = Scripted((503, {}))
    check_in("told", "not now", get(server.kubeconfig({"token": "t"}), code=1).stderr)
    check_equal("requests", len(server.seen), 1)


def a_program_gives_other_credentials_when_they_are_refused():
    write("plugin", """#!/bin/sh
cd "$(dirname "$0")"
echo x >> runs
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t'$(wc -l < runs)'"}}'
""")
    os.chmod("plugin", 0o755)
    path = os.path.abspath("plugin")
    server = Scripted((401, {}))
    config = server.kubeconfig({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": path, "interactiveMode": "Never"}})
    check_in("asks for leave", "JOBFLOW_EXEC_PLUGIN", get(config, code=1).stderr)
    check_equal("nothing was started", os.path.exists("runs"), False)
    check_equal("found", get(config, JOBFLOW_EXEC_PLUGIN=path).stdout, "configmap/found\n")
    check_equal("tokens", [h["Authorization"] for _, h in server.seen], ["Bearer t1", "Bearer t2"])
    server.left = [(401, {}), (401, {})]
    get(config, code=1, JOBFLOW_EXEC_PLUGIN=path)
    check_equal("once more, not for ever", len(server.seen), 4)


def the_certificate_may_have_another_name_than_the_address():
    server = Scripted(name="api.example")
    config = server.kubeconfig({"token": "t", "as": "boss"}, host="127.0.0.1", **{"tls-server-name": "api.example"})
    check_equal("found", get(config).stdout, "configmap/found\n")
    check_equal("impersonated user", server.seen[0][1]["Impersonate-User"], "boss")
    get(server.kubeconfig({"token": "t"}, host="127.0.0.1"), code=1)
    check_equal("a wrong name is not talked to", len(server.seen), 1)


def flags_choose_the_server_and_the_output():
    server = Scripted()
    config = server.kubeconfig({"token": "t"})
    text = json.loads(read(config))
    text["contexts"].append({"name": "other", "context": {"cluster": "none", "user": "u"}})
    text["clusters"].append({"name": "none", "cluster": {"server": "https://127.0.0.1:1"}})
    text["users"].append({"name": "v", "user": {"token": "t2"}})
    write(config, json.dumps(text))
    write("token", "from a file\n")

    def shown(*flags, code=0, env=None):
        done = jobflow("get", "cm", "-o", "name", *flags, code=code, env=env)
        return server.seen[-1][1]["Authorization"] if code == 0 else done.stderr

    check_equal("as it stands", shown("--kubeconfig", config), "Bearer t")
    check_in("another context", "no answer from https://127.0.0.1:1", shown("--kubeconfig", config, "--context", "other", code=1))
    check_equal("its cluster", shown("--kubeconfig", config, "--context", "other", "--cluster", "c"), "Bearer t")
    check_equal("another user", shown("--kubeconfig", config, "--user", "v"), "Bearer t2")
    check_equal("a token's file", shown("--kubeconfig", config, "--token-file", "token"), "Bearer from a file")
    said = shown("--kubeconfig", config, "--token", "jf_secret", code=1)
    check_in("a token is no argument", "a token itself is never an argument", said)
    check("jf_secret" not in said, "it is repeated: " + said)
    check_in("no such context", 'there is no context "none"', shown("--kubeconfig", config, "--context", "none", code=1))
    os.makedirs(".kube")
    os.rename(config, ".kube/config")
    shutil.copy("cert.pem", ".kube/cert.pem")
    gone = jobflow("get", "jf", code=1, env={"KUBECONFIG": "%s/gone" % os.getcwd()}).stderr
    check_in("a file that is missing", "KUBECONFIG: %s/gone: No such file or directory" % os.getcwd(), gone)
    check_equal("where kubectl looks", shown("--context", "c", env={"HOME": os.getcwd(), "KUBECONFIG": ""}), "Bearer t")
    check_in("not both", "exclude each other", shown("--context", "c", "--data-dir", "d", code=1))


def a_context_says_where_objects_are_that_name_no_namespace():
    server = Scripted()
    config = server.kubeconfig({"token": "t"})
    text = json.loads(read(config))
    text["contexts"][0]["context"]["namespace"] = "team"
    write(config, json.dumps(text))
    get(config)
    check_in("the context's", "/namespaces/team/configmaps", server.paths[-1])
    jobflow("get", "cm", "--kubeconfig", config, "-n", "mine")
    check_in("the flag's", "/namespaces/mine/configmaps", server.paths[-1])
    jobflow("get", "cm", "--kubeconfig", config, "-A")
    check_in("all", "/api/v1/configmaps", server.paths[-1])


def long_answers_may_come_compressed():
    server = Scripted()
    get(server.kubeconfig({"token": "t"}))
    check_equal("offered", server.seen[-1][1].get("Accept-Encoding"), "gzip")
    get(server.kubeconfig({"token": "t"}, **{"disable-compression": True}))
    check_equal("not wanted", server.seen[-1][1].get("Accept-Encoding"), None)


def a_path_is_asked_as_it_is():
    server = Scripted()
    config = server.kubeconfig({"token": "t"})
    done = jobflow("get", "--raw", "/api/v1/x?limit=1&y=%20", "--kubeconfig", config)
    check_equal("printed", json.loads(done.stdout), LIST)
    check_equal("asked", server.paths[-1], "/api/v1/x?limit=1&y=%20")
    server.left = [(503, {})]
    check_in("a refusal", "not now", jobflow("get", "--raw", "/x", "--kubeconfig", config, code=1).stderr)
    for args, text in ((["pods"], "nothing else"), (["-o", "json"], "nothing else"), (["-w"], "nothing else")):
        check_in(str(args), text, jobflow("get", "--raw", "/x", *args, code=2).stderr)
    check_in("no path", "is no path of the server", jobflow("get", "--raw", "x", code=2).stderr)


def a_program_is_allowed_by_a_flag():
    write("plugin", """#!/bin/sh
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"fresh"}}'
""")
    os.chmod("plugin", 0o755)
    path = os.path.abspath("plugin")
    server = Scripted()
    config = server.kubeconfig({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": path, "interactiveMode": "Never"}})
    check_in("asks for leave", "--allow-exec-plugin", get(config, code=1).stderr)
    jobflow("get", "cm", "--kubeconfig", config, "--allow-exec-plugin", path, code=0)
    check_equal("its token", server.seen[-1][1]["Authorization"], "Bearer fresh")


def an_unverified_server_is_trusted_only_by_a_flag():
    server = Scripted(name="elsewhere")
    config = server.kubeconfig({"token": "t"}, host="127.0.0.1", **{"certificate-authority": None, "insecure-skip-tls-verify": True})
    check_in("says how", "--insecure-cluster", get(config, code=1).stderr)
    check_equal("asked to", jobflow("get", "cm", "--kubeconfig", config, "--insecure-cluster", "-o", "name").stdout, "configmap/found\n")
    os.chmod(config, 0o666)
    check_in("a file that others may write", "chmod go-w", get(config, code=1).stderr)


class Blunt:
    """A server that sends the given bytes to every connection and closes it."""

    def __init__(self, *pieces):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.pieces = pieces
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            visitor, _ = self.listener.accept()
            try:
                visitor.recv(65536)
                for piece in self.pieces:
                    visitor.sendall(piece)
            except OSError:
                pass  # the client has closed the connection
            visitor.close()


def head(status, *lines):
    return ("\r\n".join(["HTTP/1.1 " + status, *lines, "", ""])).encode()


def the_client_ends_whatever_the_server_answers():
    body = json.dumps(LIST).encode()
    for what, pieces, said in (
            ("nothing", [], "no answer from http://127.0.0.1"),
            ("no HTTP", [b"SSH-2.0-x\r\n"], "no answer from http://127.0.0.1"),
            ("half an answer", [head("200 OK", "Content-Length: 1000"), body], "no answer from http://127.0.0.1"),
            ("a bad chunk", [head("200 OK", "Transfer-Encoding: chunked"), b"zz\r\n"], "no answer from http://127.0.0.1"),
            ("a page", [head("200 OK", "Content-Length: 6"), b"<html>"], "no JSON"),
            ("elsewhere", [head("302 Found", "Location: https://127.0.0.1:1/", "Content-Length: 0")], "status 302"),
            ("an unknown status", [head("418 Teapot", "Content-Length: 0")], "status 418"),
            ("compressed nonsense", [head("200 OK", "Content-Encoding: gzip", "Content-Length: 4"), b"abcd"], "no answer from"),
            ("headers without end", [b"HTTP/1.1 200 OK\r\n"] + [b"X: " + b"y" * 4096 + b"\r\n"] * 1000, "no answer from http://127.0.0.1"),
            ("a wait of a year", [head("503 Later", "Retry-After: 99999999999", "Content-Length: 0")], "status 503")):
        done = jobflow("get", "cm", "--server", Blunt(*pieces).url, code=1)
        check_in(what, said, done.stderr)
        check_equal(what, done.stdout, "")
    check_in("no server", "no answer from http://127.0.0.1:1", jobflow("get", "cm", "--server", "http://127.0.0.1:1", code=1).stderr)


def flags_for_a_server_are_refused_for_a_data_directory():
    manifest("f.yaml", flow("f", [step("a")]), template("a"))
    jobflow("run", "-o", "quiet", "f.yaml")
    write("token", "secret")
    for flags, text in ((["--token-file=token"], "--token-file is for a server"), (["--as=bob"], "--as is for a server"),
                        (["--as-group=dev"], "--as is for a server"), (["--as-uid=1"], "--as is for a server"),
                        (["--data-dir=.jobflow", "--token-file=token"], "--token-file is for a server")):
        for words in ("get jf", "delete jf/f", "describe jf/f", "explain jf/f", "graph jf/f", "logs jf/f", "plan f.yaml",
                      "apply -f f.yaml"):
            got = jobflow(*words.split(), *flags, code=2)
            check_in(words, text, got.stderr)
            check_equal(words, got.stdout, "")
    jobflow("get", "jf/f")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
