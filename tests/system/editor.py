"""What an editor makes of the files that init writes: the schema that they name, read by yaml-language-server.

The server is found as JOBFLOW_YAML_LANGUAGE_SERVER, else on PATH, else in the node_modules that JOBFLOW_NODE_MODULES names.
`npm install yaml-language-server` makes one.

# covers: everyday.md EVD-095
"""
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_tools import need  # noqa: E402


def server_program():
    modules = os.environ.get("JOBFLOW_NODE_MODULES")
    found = os.environ.get("JOBFLOW_YAML_LANGUAGE_SERVER") or shutil.which("yaml-language-server")
    if not found and modules and os.path.exists(os.path.join(modules, ".bin/yaml-language-server")):
        found = os.path.join(modules, ".bin/yaml-language-server")
    if not found:
        raise Skip("yaml-language-server is not installed; JOBFLOW_YAML_LANGUAGE_SERVER or JOBFLOW_NODE_MODULES may name where it is")
    need("node")
    return found


class Editor:
    """A client of the language server on its standard input and output. The server reads no schema but that of the file."""

    SETTINGS = {"yaml": {"validate": True, "completion": True, "hover": True, "schemaStore": {"enable": False}, "format": {"enable": False}}}

    def __init__(self):
        self.process = subprocess.Popen([server_program(), "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number, self.diagnostics = 0, {}
        where = "file://" + os.getcwd()
        self.ask("initialize", {"processId": os.getpid(), "rootUri": where, "workspaceFolders": [{"uri": where, "name": "w"}],
                                "capabilities": {"textDocument": {"publishDiagnostics": {}, "completion": {"completionItem": {}}},
                                                 "workspace": {"configuration": True}}})
        self.tell("initialized", {})
        self.tell("workspace/didChangeConfiguration", {"settings": self.SETTINGS})

    def send(self, message):
        body = json.dumps(dict(message, jsonrpc="2.0")).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def receive(self):
        """Reads a message. Answers what the server asks; keeps the diagnostics of each version of a file."""
        length = 0
        for line in iter(self.process.stdout.readline, b"\r\n"):
            if not line:
                raise Failure("the language server ended")
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message = json.loads(self.process.stdout.read(length))
        if message.get("method") == "workspace/configuration":
            items = message["params"]["items"]
            self.send({"id": message["id"], "result": [self.SETTINGS.get(item.get("section"), {}) for item in items]})
        elif "method" in message and "id" in message:
            self.send({"id": message["id"], "result": None})
        elif message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        return message

    def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            message = self.receive()
            if "method" not in message and message.get("id") == self.number:
                return message["result"]

    def open(self, name, text, wrong=False):
        """Opens a file and returns its diagnostics as (line from 1, message); of a wrong file the first that are not empty."""
        uri = "file://" + os.path.join(os.getcwd(), name)
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "yaml", "version": 1, "text": text}})
        while not self.diagnostics.get(uri) if wrong else uri not in self.diagnostics:
            self.receive()
        return [(d["range"]["start"]["line"] + 1, d["message"]) for d in self.diagnostics[uri]]

    def completions(self, name, line, character):
        uri = "file://" + os.path.join(os.getcwd(), name)
        got = self.ask("textDocument/completion", {"textDocument": {"uri": uri}, "position": {"line": line - 1, "character": character}})
        return {item["label"]: item for item in (got["items"] if isinstance(got, dict) else got)}

    def close(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        check_equal("the language server ends", self.process.wait(timeout=DEADLINE), 0)


def EVD_095__an_editor_completes_and_marks():
    server_program()
    jobflow("init", "--schema")
    lines = read("pipeline.yaml").splitlines()
    at = next(number for number, line in enumerate(lines) if line.lstrip().startswith("dependsOn:"))
    indent = len(lines[at]) - len(lines[at].lstrip())
    wrong = lines[:at] + [lines[at].replace("dependsOn", "dependson")] + lines[at + 1:]
    begun = lines[:at] + [" " * indent + "depend"] + lines[at + 1:]
    editor = Editor()
    found = editor.open("wrong.yaml", "\n".join(wrong), wrong=True)
    check_in("the misspelt field and its line", (at + 1, "Property dependson is not allowed."), found)
    check_equal("the file of init", editor.open("pipeline.yaml", "\n".join(lines)), [])
    check_equal("the tests of init", editor.open("pipeline.test.yaml", read("pipeline.test.yaml")), [])
    editor.open("begun.yaml", "\n".join(begun))
    offered = editor.completions("begun.yaml", at + 1, indent + len("depend"))
    check_in("a field", "dependsOn", offered)
    check_in("with its description", "steps", json.dumps(offered["dependsOn"].get("documentation", "")).lower())
    editor.close()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
