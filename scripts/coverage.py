"""Prints lines and branches that tests have reached, by room: scripts/coverage.py build/cov WORST PARTIAL

WORST is the number of files to list, PARTIAL is not 0 if only some tests ran. scripts/coverage.sh calls it.
"""
import concurrent.futures
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

LINES, BRANCHES = 92.0, 80.0
PROGRAM = re.compile(r"^(api|base|cli|flow|job|node|probes|template|view)/")


def counters(path):
    """What gcov says of one object file: {source: {line: (count, [branch counts])}}."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--object-directory", os.path.dirname(path), path],
                       cwd=folder, check=False, capture_output=True)
        found = {}
        for name in os.listdir(folder):
            with gzip.open(os.path.join(folder, name)) as packed:
                said = json.load(packed)
            for file in said["files"]:
                source = os.path.relpath(os.path.join(said["current_working_directory"], file["file"]))
                if not PROGRAM.match(source):
                    continue
                lines = found.setdefault(source, {})
                for line in file["lines"]:
                    count, branches = lines.get(line["line_number"], (0, []))
                    lines[line["line_number"]] = (count + line["count"],
                                                  branches + [branch["count"] for branch in line["branches"]])
        return found


def merge(all_lines, found):
    """Adds the counters of an object file. An inline function of a header is in many of them."""
    for source, lines in found.items():
        known = all_lines.setdefault(source, {})
        for number, (count, branches) in lines.items():
            before, before_branches = known.get(number, (0, []))
            if len(before_branches) == len(branches):
                branches = [a + b for a, b in zip(before_branches, branches)]
            elif len(before_branches) > len(branches):
                branches = before_branches
            known[number] = (before + count, branches)


def percent(reached, there):
    return 100.0 * reached / there if there else 100.0


def main(build, worst, partial):
    objects = []
    for folder, _, files in os.walk(os.path.abspath(build)):
        if re.search(r"/(test_|fuzz_|bench_)[^/]*\.dir", folder):
            continue
        objects += [os.path.join(folder, name[:-5] + ".gcda") for name in files if name.endswith(".gcno")]
    all_lines = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(counters, [path for path in objects if os.path.exists(path)]):
            merge(all_lines, found)

    rooms, files = {}, []
    for source, lines in all_lines.items():
        branches = [count for _, counts in lines.values() for count in counts]
        row = (sum(count > 0 for count, _ in lines.values()), len(lines), sum(count > 0 for count in branches), len(branches))
        room = rooms.setdefault(os.path.dirname(source), [0, 0, 0, 0])
        for i, number in enumerate(row):
            room[i] += number
        files.append((row[1] - row[0], source, row))

    total = [sum(room[i] for room in rooms.values()) for i in range(4)]
    print("%-32s %7s %7s %9s %9s" % ("room", "lines", "reached", "branches", "reached"))
    for name, (reached, there, taken, branches) in sorted(rooms.items()) + [("all", total)]:
        print("%-32s %7d %6.1f%% %9d %8.1f%%" % (name, there, percent(reached, there), branches, percent(taken, branches)))
    for missed, source, row in sorted(files, reverse=True)[:worst]:
        print("%5d of %4d lines not reached: %s (%.1f%%, branches %.1f%%)" %
              (missed, row[1], source, percent(row[0], row[1]), percent(row[2], row[3])))
    good = percent(total[0], total[1]) >= LINES and percent(total[2], total[3]) >= BRANCHES
    if not good:
        print("coverage: below %g %% of the lines or %g %% of the branches%s" % (LINES, BRANCHES, "; only some tests ran" if partial else ""))
    return 0 if good or partial else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
