"""Runs a real kube-apiserver on a real etcd. scripts/kube-assets.sh makes the programs; KUBEBUILDER_ASSETS may name another directory."""
import http.client
import json
import os
import ssl
import subprocess
import time

from lib import DEADLINE, Failure, Skip, free_ports, read, wait_until, write
from lib_tools import need_openssl

TOKEN = "t0ken"
PROGRAMS = ("etcd", "kube-apiserver")


def assets():
    """Returns the directory with the programs: the one that KUBEBUILDER_ASSETS names, or where scripts/kube-assets.sh puts them."""
    found = os.environ.get("KUBEBUILDER_ASSETS")
    if not found:
        found = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "jobflow/kube")
        if not all(os.access(os.path.join(found, program), os.X_OK) for program in PROGRAMS):
            raise Skip("there is no kube-apiserver: scripts/kube-assets.sh makes one, or KUBEBUILDER_ASSETS names the directory of another")
    for program in PROGRAMS:
        if not os.access(os.path.join(found, program), os.X_OK):
            raise Skip("KUBEBUILDER_ASSETS=%s has no program %s" % (found, program))
    return found


def need_minor(least, what):
    """Skips the case when the API server is older than 1.`least`, which is the first with `what`."""
    said = subprocess.run([os.path.join(assets(), "kube-apiserver"), "--version"], capture_output=True, text=True, check=True).stdout
    minor = int(said.split("v1.")[1].split(".")[0])
    if minor < least:
        raise Skip("Kubernetes 1.%d has no %s" % (minor, what))


class Answer:
    """One answer: status, headers with lower-case names, the body as text, and as JSON if it is JSON."""

    def __init__(self, got):
        self.status = got.status
        self.headers = [(name.lower(), value) for name, value in got.getheaders()]
        self.text = got.read().decode()
        try:
            self.json = json.loads(self.text)
        except ValueError:
            self.json = None

    def header(self, name):
        return [value for key, value in self.headers if key == name]


class Server:
    """Sends requests to an API server at a port of this machine."""

    def __init__(self, port, token, context):
        self.port, self.token, self.context = port, token, context

    def connection(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=DEADLINE, context=self.context)

    def ask(self, method, path, body=None, kind=None, accept=None, headers=None):
        heads = {"Authorization": "Bearer " + self.token, "User-Agent": "differential/1", "Accept": accept or "application/json"}
        if body is not None:
            heads["Content-Type"] = kind or "application/json"
        heads.update(headers or {})
        own = self.connection()
        try:
            own.request(method, path, json.dumps(body) if isinstance(body, (dict, list)) else body, heads)
            return Answer(own.getresponse())
        finally:
            own.close()


def unverified():
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Kube(Server):
    """etcd, kube-apiserver and, if available, the controller manager. They run until the test ends."""

    def __init__(self, authorization="AlwaysAllow", accounts=None, plugins=None, flags=()):
        """`accounts` are further users, as {token: name}; `plugins` further admission plugins; `flags` further flags of the API server."""
        self.assets = assets()
        need_openssl()
        self.directory = os.path.abspath("kube")
        os.mkdir(self.directory)
        ports = free_ports(3)
        super().__init__(ports[2], TOKEN, unverified())
        self.started = []
        self.start("etcd", "--data-dir", self.file("etcd"), "--listen-client-urls", "http://127.0.0.1:%d" % ports[0],
                   "--advertise-client-urls", "http://127.0.0.1:%d" % ports[0], "--listen-peer-urls", "http://127.0.0.1:%d" % ports[1])
        write(self.file("tokens"), '%s,admin,1,"system:masters"\n' % TOKEN + "".join(
            "%s,%s,%s\n" % (token, name, name) for token, name in (accounts or {}).items()))
        subprocess.run(["openssl", "genrsa", "-out", self.file("sa.key"), "2048"], check=True, capture_output=True)
        self.start("kube-apiserver", "--etcd-servers", "http://127.0.0.1:%d" % ports[0], "--secure-port", str(self.port),
                   "--bind-address", "127.0.0.1", "--cert-dir", self.file("certs"), "--service-account-issuer", "https://kube.test",
                   "--service-account-key-file", self.file("sa.key"), "--service-account-signing-key-file", self.file("sa.key"),
                   "--token-auth-file", self.file("tokens"), "--authorization-mode", authorization, "--service-cluster-ip-range",
                   "10.0.0.0/24", "--disable-admission-plugins", "ServiceAccount", "--watch-cache=true",
                   *(["--enable-admission-plugins", plugins] if plugins else []), *flags)
        wait_until("kube-apiserver is ready", self.is_ready, seconds=240)
        self.version = int(self.ask("GET", "/version").json["minor"].rstrip("+"))
        self.kubeconfig = self.write_kubeconfig(TOKEN)
        if os.access(os.path.join(self.assets, "kube-controller-manager"), os.X_OK):
            self.start("kube-controller-manager", "--kubeconfig", self.kubeconfig, "--controllers",
                       "garbagecollector,namespace", "--leader-elect=false")

    def file(self, name):
        return os.path.join(self.directory, name)

    def start(self, program, *args):
        with open(self.file(program + ".log"), "wb") as log:
            self.started.append((program, subprocess.Popen([os.path.join(self.assets, program), *args], stdout=log, stderr=log,
                                                           stdin=subprocess.DEVNULL)))

    def has(self, program):
        return program in [name for name, _ in self.started]

    def is_ready(self):
        for program, process in self.started:
            if process.poll() is not None:
                raise Failure("%s ended: %s" % (program, read(self.file(program + ".log"))[-2000:]))
        try:
            return self.ask("GET", "/readyz").status == 200
        except OSError:
            time.sleep(0.1)
            return False

    def write_kubeconfig(self, token, name="kubeconfig"):
        path = self.file(name)
        write(path, json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:%d" % self.port, "insecure-skip-tls-verify": True}}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
        os.chmod(path, 0o600)
        return path

    def install(self, definitions):
        """Installs the CustomResourceDefinitions that another server serves."""
        for one in definitions:
            for member in ("status",):
                one.pop(member, None)
            one["metadata"] = {"name": one["metadata"]["name"]}
            answer = self.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", one)
            if answer.status != 201:
                raise Failure("%s: %s" % (one["metadata"]["name"], answer.text))
            version = one["spec"]["versions"][0]["name"]
            path = "/apis/%s/%s/%s" % (one["spec"]["group"], version, one["spec"]["names"]["plural"])
            wait_until("%s is served" % path, lambda: self.ask("GET", path).status == 200)

    def stop(self):
        for _, process in reversed(self.started):
            process.kill()
            process.wait()
