"""Admission webhooks of somebody else: an HTTPS server in the test's process, and their registration at a kube-apiserver."""
import base64
import http.server
import json
import ssl
import subprocess
import threading

from lib import check_equal, free_ports, read

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/%swebhookconfigurations"
NAME = "pods.example.com"


class Webhook:
    """Answers reviews of pods that are made. `decide` gets the pod and returns the members of the response, or an HTTP status."""

    def __init__(self, decide):
        self.decide, self.reviews = decide, 0
        self.port = free_ports(1)[0]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "hook.key", "-out", "hook.crt", "-days", "1",
                        "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = hook.decide(review["request"]["object"])
                hook.reviews += 1
                if isinstance(answer, int):
                    self.send_error(answer)
                    return
                text = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                                   "response": dict(answer, uid=review["request"]["uid"])}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("hook.crt", "hook.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def register(self, cluster, kind="validating"):
        hook = {"name": NAME, "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail", "timeoutSeconds": 10,
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
                "clientConfig": {"url": "https://127.0.0.1:%d/" % self.port, "caBundle": base64.b64encode(read("hook.crt").encode()).decode()}}
        made = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind.capitalize() + "WebhookConfiguration",
                "metadata": {"name": "others"}, "webhooks": [hook]}
        answer = cluster.ask("POST", CONFIGURATIONS % kind, made)
        check_equal("webhook: " + answer.text, answer.status, 201)

    def wait_until_asked(self, cluster, until):
        """The API server reads registrations a moment later. A pod of nobody is sent until the webhook is asked."""
        probe = {"metadata": {"name": "asks"}, "spec": {"containers": [{"name": "c", "image": "busybox"}]}}
        until("the API server asks the webhook", lambda: [
            cluster.ask("POST", "/api/v1/namespaces/default/pods?dryRun=All", probe), self.reviews][1] > 0)

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
