#!/usr/bin/python3
"""Makes the pictures of the README from examples/ml-pipeline: scripts/pictures.py [PROGRAM]

    docs/images/graph.svg    the graph, as `jobflow graph -o svg` draws it
    docs/images/run.svg      a terminal while the pipeline runs, and docs/images/end.svg when it has ended

Needs the packages python3-pyte (a terminal in memory) and python3-numpy (the pipeline itself).
"""
import fcntl
import html
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios

import pyte

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/release/jobflow"))
EXAMPLE = os.path.join(ROOT, "examples/ml-pipeline")
IMAGES = os.path.join(ROOT, "docs/images")
COLUMNS, ROWS = 100, 34
CELL_W, CELL_H, MARGIN = 8.4, 18, 14
COLORS = {"default": "#d1d7e0", "black": "#656d76", "red": "#f47067", "green": "#57ab5a", "brown": "#c69026", "yellow": "#c69026",
          "blue": "#539bf5", "magenta": "#b083f0", "cyan": "#39c5cf", "white": "#d1d7e0"}


def rows_of(screen):
    """The screen as lists of (text, colour, bold), without the empty rows at its end."""
    rows = []
    for y in range(screen.lines):
        spans = []
        for x in range(screen.columns):
            cell = screen.buffer[y][x]
            style = (COLORS.get(cell.fg, COLORS["default"]), cell.bold)
            if spans and spans[-1][1:] == style:
                spans[-1] = (spans[-1][0] + cell.data,) + style
            else:
                spans.append((cell.data,) + style)
        rows.append(spans)
    while rows and not "".join(span[0] for span in rows[-1]).strip():
        rows.pop()
    return rows


def svg_of(rows):
    width, height = COLUMNS * CELL_W + 2 * MARGIN, len(rows) * CELL_H + 2 * MARGIN
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f">' % (width, height, width, height),
           '<rect width="100%" height="100%" rx="8" fill="#1c2128"/>',
           '<g font-family="ui-monospace, SFMono-Regular, Menlo, monospace" font-size="14" xml:space="preserve">']
    for y, spans in enumerate(rows):
        column = 0
        for text, color, bold in spans:
            if text.strip():
                out.append('<text x="%.1f" y="%.1f" fill="%s"%s textLength="%.1f" lengthAdjust="spacingAndGlyphs">%s</text>' % (
                    MARGIN + column * CELL_W, MARGIN + (y + 0.75) * CELL_H, color, ' font-weight="bold"' if bold else "",
                    len(text) * CELL_W, html.escape(text)))
            column += len(text)
    out.append("</g></svg>")
    return "\n".join(out) + "\n"


def run_in_terminal(argv, directory):
    """Runs a command in a terminal; the rows of every frame it drew."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(directory)
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.environ.pop("NO_COLOR", None)
        os.execv(argv[0], argv)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    frames = []
    while True:
        ready, _, _ = select.select([master], [], [], 0.03)
        if not ready:
            frames.append(rows_of(screen))
            continue
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        stream.feed(data)
    frames.append(rows_of(screen))
    _, status = os.waitpid(pid, 0)
    if status != 0:
        sys.exit("pictures: the pipeline ended with status %d" % status)
    return frames


def busiest(frames):
    """The last of the frames in which most steps run."""
    def running(rows):
        return sum("Running" in "".join(span[0] for span in spans) for spans in rows)
    most = max(map(running, frames[:-1]))
    return [rows for rows in frames[:-1] if running(rows) == most][-1]


def write(name, text):
    os.makedirs(IMAGES, exist_ok=True)
    with open(os.path.join(IMAGES, name), "w", encoding="utf-8") as file:
        file.write(text)
    print("pictures: docs/images/%s" % name)


def main():
    files = sorted(os.path.join(EXAMPLE, name) for name in os.listdir(EXAMPLE))
    write("graph.svg", subprocess.run([PROGRAM, "graph", "-o", "svg", *files], capture_output=True, text=True, check=True).stdout)
    with tempfile.TemporaryDirectory() as directory:
        frames = run_in_terminal([PROGRAM, "run", *files], directory)
    write("run.svg", svg_of(busiest(frames)))
    write("end.svg", svg_of(frames[-1]))


if __name__ == "__main__":
    main()
