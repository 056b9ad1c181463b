"""Runs a daemon and sends requests to it over TLS."""
import base64
import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess

from lib import DEADLINE, SLOW, Background, Failure, Skip, check_equal, read, wait_until

CM = "/api/v1/namespaces/default/configmaps"
JF = "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"


def cpu_seconds(pid):
    """CPU time of a process. Other load on the machine does not count."""
    text = read("/proc/%d/stat" % pid)
    fields = text[text.rindex(")") + 2:].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def may_see_descriptors():
    """Whether the test may list a daemon's descriptors. The daemon is not dumpable, so this needs root."""
    return os.geteuid() == 0


def descriptors(daemon):
    """Returns the targets of the process's open descriptors."""
    if not may_see_descriptors():
        raise Skip("a daemon cannot be dumped, so only root sees its descriptors")
    links = []
    for number in os.listdir("/proc/%d/fd" % daemon.pid):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            links.append(os.readlink("/proc/%d/fd/%s" % (daemon.pid, number)))
    return links


class Daemon(Background):
    """`jobflow serve` on a port of its own; ready once the constructor returns."""

    def __init__(self, *args, data_dir="d", listen="127.0.0.1:0", name="serve", ready=True, **rest):
        self.data_dir = os.path.abspath(data_dir)
        before = len(read(name + ".stdout"))
        super().__init__("serve", "--data-dir", data_dir, *(["--listen", listen] if listen else []), *args, name=name, **rest)
        self.port = None
        if not ready:
            return
        wait_until("the daemon is ready", lambda: "serving on" in self.output()[before:] or not self.running())
        if not self.running():
            raise Failure("the daemon ended: %s" % self.errors())
        self.start_cost = cpu_seconds(self.pid)
        found = re.search(r"https://([^ ]+):(\d+) ", self.output()[before:])
        if found:
            self.port = int(found.group(2))
            self.kubeconfig = os.path.join(self.data_dir, "kubeconfig")
            text = read(self.kubeconfig)
            self.token = re.search(r"token: (\S+)", text).group(1)
            self.ca = base64.b64decode(re.search(r"certificate-authority-data: (\S+)", text).group(1)).decode()

    def tls(self):
        context = ssl.create_default_context(cadata=self.ca)
        return context

    def connect(self, timeout=DEADLINE):
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=self.tls())

    def raw(self, context=None):
        """Opens a TLS connection to the daemon."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE)
        return (context or self.tls()).wrap_socket(plain, server_hostname="127.0.0.1")

    def ask(self, method, path, body=None, token="", headers=None, connection=None):
        """Returns (status, body text). Token "" means the administrator's; None sends no token."""
        own = connection or self.connect()
        token = self.token if token == "" else token
        heads = {"Content-Type": "application/json"} if body is not None else {}
        if token:
            heads["Authorization"] = "Bearer " + token
        heads.update(headers or {})
        own.request(method, path, json.dumps(body) if isinstance(body, (dict, list)) else body, heads)
        answer = own.getresponse()
        text = answer.read().decode()
        if not connection:
            own.close()
        return answer.status, text

    def get(self, path, **rest):
        status, text = self.ask("GET", path, **rest)
        check_equal("GET %s: %s" % (path, text), status, 200)
        return json.loads(text)

    def unix(self, request):
        """Sends raw bytes to the unix socket and returns the whole answer."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(DEADLINE)
            s.connect(os.path.relpath(os.path.join(self.data_dir, "api.sock")))
            s.sendall(request)
            out = b""
            while True:
                part = s.recv(65536)
                if not part:
                    return out.decode()
                out += part

    def stop(self, number=15):
        self.signal(number)
        return self.wait()

    def kubectl(self, *args, code=0, kubeconfig=None, stdin=None):
        kubectl = shutil.which("kubectl")
        if not kubectl:
            raise Skip("kubectl is not installed")
        done = subprocess.run([kubectl, "--kubeconfig", kubeconfig or self.kubeconfig, "--cache-dir", os.path.abspath("cache"),
                               *args], capture_output=True, text=True, timeout=60 * SLOW, input=stdin,
                              stdin=subprocess.DEVNULL if stdin is None else None)
        if code is not None and done.returncode != code:
            raise Failure("kubectl %s: exit code %d\n%s%s" % (" ".join(args), done.returncode, done.stdout, done.stderr))
        return done

    def kubectl_waits(self, what, *flags):
        """Waits until a flow has succeeded. kubectl before 1.23 cannot wait for a field, so this reads it again and again."""
        path = "jsonpath={.status.state.phase}"
        wait_until("%s has succeeded" % what, lambda: self.kubectl("get", what, "-o", path, *flags).stdout == "Succeed")

    def kubectl_minor(self):
        """Returns N of the installed kubectl 1.N."""
        return int(re.search(r'"gitVersion": *"v1\.(\d+)', self.kubectl("version", "--client", "-o", "json").stdout).group(1))


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
