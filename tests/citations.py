#!/usr/bin/env python3
"""Every rule that a comment, a document or a test cites exists in docs/spec.

Two forms of citation are checked in all sources, scripts and documents of the project:

    SEC-13, INV-S3, O-P28        an id: a specification defines it, at the beginning of a row or of an
                                 item, or as a tag in square brackets
    spec/job.md 4.3              a section: the file has a heading with that number

Prints each citation that leads nowhere with its file and line, and fails if there is any.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SPEC = ROOT / "docs" / "spec"
FOLDERS = "api base bench cli cmake contrib docs examples flow job node probes scripts template tests view web".split()
ENDINGS = {".c", ".h", ".md", ".py", ".sh", ".cmake", ".yaml", ".go", ".mjs", ".ts", ".tsx", ".css", ".sql"}

# What ids look like. Others of this shape (T-6, UTF-8, SHA-256) belong to other worlds.
FAMILIES = "CLU DC DCL EVD FT FZ INV LIV SEC SIM WEB D L O P".split()
ID = re.compile(r"\b(%s)-([A-Z]?\d+)\b" % "|".join(FAMILIES))
SECTION = re.compile(r"\bspec/([a-z-]+\.md)((?:[ ,]+(?:and )?\d+(?:\.\d+)*)*)")
FOREIGN = {"P-256", "P-384", "D-65"}  # curves of cryptography


def lines_of(path):
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def defined():
    ids = set()
    sections = {}
    for path in sorted(SPEC.glob("*.md")):
        numbers = sections.setdefault(path.name, set())
        for line in lines_of(path):
            heading = re.match(r"#+ (\d+(?:\.\d+)*)", line)
            if heading:
                numbers.add(heading.group(1))
            row = re.match(r"\s*(?:\||[-*]|\d+\.)\s*\W*", line)
            if row:
                first = ID.match(line, row.end())
                if first:
                    ids.add(first.group(0))
            for tag in re.findall(r"\[([^\]]*)\]", line):
                ids.update(found.group(0) for found in ID.finditer(tag))
    return ids, sections


def citations(path):
    for number, line in enumerate(lines_of(path), 1):
        for found in ID.finditer(line):
            yield number, found.group(0), None
        for found in SECTION.finditer(line):
            yield number, found.group(1), re.findall(r"\d+(?:\.\d+)*", found.group(2))


def main():
    ids, sections = defined()
    wrong = []
    cited = 0
    files = [path for folder in FOLDERS if (ROOT / folder).is_dir() for path in sorted((ROOT / folder).rglob("*"))]
    files += sorted(ROOT.glob("*.md")) + [ROOT / "CMakeLists.txt"]
    for path in files:
        if path.suffix not in ENDINGS and path.name != "CMakeLists.txt":
            continue
        for number, what, numbers in citations(path):
            cited += 1
            place = f"{path.relative_to(ROOT)}:{number}"
            if numbers is None:
                if what not in ids and what not in FOREIGN:
                    wrong.append(f"{place}: {what} is defined nowhere in docs/spec")
            elif what not in sections:
                wrong.append(f"{place}: there is no docs/spec/{what}")
            else:
                wrong += [f"{place}: docs/spec/{what} has no section {n}" for n in numbers if n not in sections[what]]
    for line in wrong:
        print(line)
    print(f"citations: {cited} in all, {len(ids)} ids defined, {len(wrong)} lead nowhere")
    return 1 if wrong or not cited else 0


if __name__ == "__main__":
    sys.exit(main())
