#!/usr/bin/env python3
"""The sources of the page use nothing that makes a document or a program from text.
"""
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "web" / "page"
BANNED = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser|srcdoc|document\.write|\beval\(|new Function|"
                    r"setAttribute\(.style|cssText|style=[\"']|createPolicy|serviceWorker|new Worker|WebSocket|EventSource")


# covers: web.md WEB-043
def main():
    wrong = []
    count = 0
    for path in sorted(PAGE.rglob("*.ts*")):
        count += 1
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = BANNED.search(line)
            if found:
                wrong.append("%s:%d: %s" % (path.relative_to(PAGE), number, found.group(0)))
    print("\n".join(wrong) if wrong else "page rules: %d files" % count)
    return bool(wrong) or not count


if __name__ == "__main__":
    sys.exit(main())
