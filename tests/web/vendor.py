#!/usr/bin/env python3
"""The libraries of the page and of its tests are the files that the README.md beside them lists, byte for byte, and no others."""
import hashlib
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = (SOURCE / "web" / "vendor", SOURCE / "tests" / "web" / "vendor")


def compare(vendor):
    """What is wrong with a folder, as sentences, and how many files it has."""
    listed = {path: digest for digest, path in re.findall(r"^([0-9a-f]{64})  (\S+)$", (vendor / "README.md").read_text(), re.MULTILINE)}
    there = {str(path.relative_to(vendor)): hashlib.sha256(path.read_bytes()).hexdigest()
             for path in sorted(vendor.rglob("*")) if path.is_file() and path.name != "README.md"}
    wrong = ["%s is not listed" % path for path in there if path not in listed]
    wrong += ["%s is missing" % path for path in listed if path not in there]
    wrong += ["%s has SHA-256 %s" % (path, digest) for path, digest in there.items() if path in listed and listed[path] != digest]
    return wrong, len(there)


def main():
    failed = False
    for vendor in FOLDERS:
        wrong, count = compare(vendor)
        print("\n".join(wrong) if wrong else "%s: %d files as listed" % (vendor.relative_to(SOURCE), count))
        failed = failed or bool(wrong) or not count
    return failed


if __name__ == "__main__":
    sys.exit(main())
