#!/usr/bin/env python3
"""No file of the project names a mirror, a registry or another host of the network.

Packages come from the sources that the machine has configured. A URL may name this machine, a host
of a test or of an example, or one of the documents below, which nothing fetches. A URL with a path
counts as well as a bare one. Prints each other host with its file and line, and fails if there is
any.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOT_OURS = {".git", "build", "__pycache__"}
UNMODIFIED = (("web", "vendor"), ("tests", "web", "vendor"))  # files of others as they are; addresses in their comments name documents
URL = re.compile(rb"\b(?:https?|ftp)://([A-Za-z0-9][A-Za-z0-9.-]*)")
SOURCE_LINE = re.compile(rb"^\s*deb(?:-src)?\s+\S*://|^URIs:\s*\S", re.MULTILINE)

DOCUMENTS = {"www.apache.org", "www.w3.org", "json-schema.org", "doi.org"}  # names of a licence, of XML namespaces, of a JSON Schema, of a paper
ENDS_OF_EXAMPLES = (".example", ".test", ".invalid", ".localhost", ".svc", ".local")


def is_local(host):
    """Is it an address of this machine or of a test, a name of one word, or a name of a pod or Service (short last label)?"""
    return (host.startswith("127.") or host == "10.0.0.1" or "." not in host or host.endswith(ENDS_OF_EXAMPLES)
            or re.fullmatch(r"[a-z0-9-]+\.[a-z]|[a-z0-9-]+-[0-9]+\.[a-z0-9-]+", host))


def files():
    for path in sorted(ROOT.rglob("*")):
        relative = path.relative_to(ROOT)
        if path.is_file() and not path.is_symlink() and not NOT_OURS.intersection(relative.parts) and not any(relative.parts[:len(folder)] == folder for folder in UNMODIFIED) and path != pathlib.Path(__file__).resolve():
            yield relative, path.read_bytes()


def main():
    wrong = []
    count = 0
    for path, content in files():
        count += 1
        for match in list(URL.finditer(content)) + list(SOURCE_LINE.finditer(content)):
            host = match.group(1).decode().rstrip(".-") if match.re is URL else "a package source"
            if match.re is SOURCE_LINE or not (is_local(host) or host in DOCUMENTS):
                wrong.append("%s:%d: names %s" % (path, content[:match.start()].count(b"\n") + 1, host))
    print("\n".join(wrong) if wrong else "hosts: none of a mirror or registry in %d files" % count)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
