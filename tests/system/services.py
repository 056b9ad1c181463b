"""ClusterIP Services between real pods, over TCP and UDP: a port other than the pods', ready pods only; run by root, by an ordinary user,
and in a private network.
"""
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_plugins import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_user import *  # noqa: E402,F403: sys.path is set above; cases use all names

SERVER = """
import http.server, os
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(os.environ["HOSTNAME"].encode())
    def log_message(self, *rest):
        pass
http.server.HTTPServer(("0.0.0.0", 8080), H).serve_forever()
"""
# The same over UDP, on the same port 8080.
TELLER = """
import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", 8080))
while True:
    text, who = s.recvfrom(99)
    s.sendto(text + os.environ["HOSTNAME"].encode(), who)
"""
# Sends datagrams to port 80 of the name, with connected and with unconnected sockets, until both servers have answered.
# Each answer must match its request.
ASKER = """
import os, socket
seen, ways, n = set(), set(), 0
while len(seen) < 2 or len(ways) < 2:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(1)
    n += 1
    try:
        if n % 2:
            s.sendto(b"%d " % n, ("web", 80))
        else:
            s.connect(("web", 80))
            s.send(b"%d " % n)
        number, name = s.recv(99).decode().split()
    except OSError:
        continue
    if int(number) != n:
        print("answer to another question")
    if name not in seen:
        print("answered", name, flush=True)
    seen.add(name)
    ways.add(n % 2)
print(os.environ["WEB_PORT"], flush=True)
print("address", socket.gethostbyname("web"), flush=True)
"""
# Requests port 80 of the name until both servers have answered.
CLIENT = """
import socket, urllib.request
seen = set()
while len(seen) < 2:
    try:
        name = urllib.request.urlopen("http://web/", timeout=30).read().decode()
    except OSError:
        continue
    if name not in seen:
        print("answered", name, flush=True)
    seen.add(name)
print("address", socket.gethostbyname("web"), flush=True)
"""


def service(name, selector, ports, **spec):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "default"},
            "spec": dict({"selector": selector, "ports": ports}, **spec)}


def server_task(name, replicas, code=SERVER):
    made = python_task(name, code, replicas)
    made["template"]["metadata"] = {"labels": {"app": "web"}}
    return made


def objects():
    return [service("web", {"app": "web"}, [{"port": 80, "targetPort": 8080}]),
            job("j", [server_task("s", 2), python_task("client", CLIENT)], minAvailable=3, policies=[on("TaskCompleted", "CompleteJob")])]


def datagram_objects():
    return [service("web", {"app": "web"}, [{"port": 80, "targetPort": 8080, "protocol": "UDP"}]),
            job("j", [server_task("s", 2, TELLER), python_task("client", ASKER)], minAvailable=3, policies=[on("TaskCompleted", "CompleteJob")])]


def run_there(*options, prefix=(), env=None, cwd=None, made=None):
    path = os.path.join(cwd or os.getcwd(), "web.yaml")
    manifest(path, *(made or objects()))
    done = subprocess.run(list(prefix) + [(env or os.environ)["JOBFLOW"], "run", "-o", "plain", "--logs", *options, path], env=env, cwd=cwd,
                          capture_output=True, text=True, check=False, timeout=DEADLINE, stdin=subprocess.DEVNULL)
    check_equal("exit code\n" + done.stdout + done.stderr, done.returncode, 0)
    check_equal("both answered\n" + done.stdout, sorted(re.findall(r"answered (j-s-\d)", done.stdout)), ["j-s-0", "j-s-1"])
    check("another question" not in done.stdout, "answers are not mixed up\n" + done.stdout)
    nothing_left()
    return re.search(r"address (\S+)", done.stdout).group(1)


# covers: see local-runtime.md 3.5
def a_service_hands_its_port_on_to_the_pods():
    """No pod declares its port, and both pods listen on it at all addresses."""
    need_sandboxed_pods()
    for made in (objects(), datagram_objects()):
        check(re.match(r"127\.\d+\.\d+\.\d+$", run_there(made=made)), "an address of its own")


def an_ordinary_user_has_services_too():
    """An ordinary user may not listen on port 80 itself."""
    need_one_thread()
    env = user_dir()
    if os.geteuid() == 0 and not can(as_user() + ["unshare", "--user", "--map-root-user", "true"]):
        raise Skip("an ordinary user has no pods with names here")
    for made in (objects(), datagram_objects()):
        run_there(prefix=as_user(), env=env, cwd=env["TMPDIR"], made=made)


def services_work_in_a_private_network():
    need_private_network()
    for made in (objects(), datagram_objects()):
        check_in("address", "10.127.", run_there("--network", "private", made=made))


def connections_outlive_neither_their_pod_nor_its_service():
    """kubectl shows the Service while it exists; after its deletion connections are refused."""
    need_sandboxed_pods()
    daemon = Daemon()
    server = server_task("s", 1)
    server["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": 8080}]  # without the declaration the pod would use the machine's port, which may be taken
    daemon.apply(service("web", {"app": "web"}, [{"name": "http", "port": 7090, "targetPort": "http"}]), job("j", [server], minAvailable=1))
    ip = wait_until("an address", lambda: daemon.get("services")["items"][0]["spec"].get("clusterIP"))
    check_in("shown", ip, daemon("get", "svc").stdout)
    check(refused(ip, 7090), "no pod has a port of that name")
    daemon("delete", "service", "web")
    daemon.apply(service("web", {"app": "web"}, [{"port": 7091, "targetPort": 8080}]))
    ip = wait_until("an address", lambda: daemon.get("services")["items"][0]["spec"].get("clusterIP"))
    wait_until("it answers", lambda: not refused(ip, 7091))
    daemon("delete", "service", "web")
    wait_until("it refuses", lambda: refused(ip, 7091))
    daemon("delete", "vcjob", "j")
    wait_until("the pod is gone", lambda: not daemon.get("pods")["items"])
    daemon.stop()
    nothing_left()


def clients_see_the_endpoints_of_a_service():
    """Checks Endpoints, an EndpointSlice, and the environment variables of pods that start later."""
    need_sandboxed_pods()
    daemon = Daemon()
    daemon.apply(service("web", {"app": "web"}, [{"name": "http", "port": 7092, "targetPort": 8080}]),
                 job("j", [server_task("s", 2)], minAvailable=2))
    wait_until("both are listed", lambda: daemon("get", "endpoints", "--no-headers", code=None).stdout.count(":8080") == 2)
    check_equal("the same in a slice", len(daemon.get("endpointslices")["items"][0]["endpoints"]), 2)
    ip = daemon.get("services/web")["spec"]["clusterIP"]
    daemon.apply(job("told", [task("t", "echo $WEB_SERVICE_HOST:$WEB_SERVICE_PORT_HTTP $WEB_PORT")]),
                 job("not-told", [task("t", "echo .$WEB_SERVICE_HOST.", enableServiceLinks=False)]))
    for name in ("told", "not-told"):
        daemon("wait", "job/" + name)
    check_equal("told", daemon("logs", "pod/told-t-0").stdout, "%s:7092 tcp://%s:7092\n" % (ip, ip))
    check_equal("not told", daemon("logs", "pod/not-told-t-0").stdout, "..\n")
    daemon("delete", "vcjob", "j")
    wait_until("no endpoint is left", lambda: ":8080" not in daemon("get", "endpoints", "--no-headers").stdout)
    daemon("delete", "service", "web")
    wait_until("they go with it", lambda: not daemon.get("endpoints")["items"] and not daemon.get("endpointslices")["items"])
    daemon.stop()
    nothing_left()


def refused(ip, port):
    with socket.socket() as s:
        return s.connect_ex((ip, port)) != 0


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
