#!/usr/bin/env python3
"""The pure parts of the page: web/page/**/*.test.ts, bundled by esbuild and run by `node --test`.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = SOURCE / "web" / "page"


# covers: web.md WEB-059 WEB-060 WEB-111 WEB-113 WEB-160 WEB-161
def main():
    node = shutil.which("node")
    esbuild = shutil.which("esbuild")
    if not node or not esbuild:
        print("skipped: there is no %s" % ("esbuild" if node else "node"))
        return 77
    if int(subprocess.check_output([node, "--version"], text=True).lstrip("v").split(".")[0]) < 18:
        print("skipped: node is older than 18 and has no test runner")
        return 77
    tests = sorted(PAGE.rglob("*.test.ts"))
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([esbuild, *map(str, tests), "--bundle", "--platform=node", "--format=esm", "--out-extension:.js=.mjs", "--outdir=" + out,
                        "--tsconfig=" + str(PAGE / "bundle.json"), "--jsx=automatic", "--jsx-import-source=preact", "--define:REPORT=false", "--log-level=warning"], check=True)
        bundles = sorted(map(str, pathlib.Path(out).rglob("*.mjs")))
        if len(bundles) != len(tests) or not tests:
            print("%d tests became %d files" % (len(tests), len(bundles)))
            return 1
        return subprocess.run([node, "--test", *bundles], env=dict(os.environ, PAGE=str(PAGE)), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
