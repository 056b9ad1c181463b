#!/usr/bin/env python3
"""Measures the page: first load, opening flows of several sizes, frames while the view is dragged, sorting, memory.

usage: bench/web.py [--jobflow PROGRAM] [--steps 40,2000,100000] [--rounds N]

Each flow is a simulated run, served from its store by `jobflow ui` and looked at by headless Chromium (python3-selenium).
Prints one JSON line for each size: medians, times in milliseconds, memory in MiB. `first_paint` is that of the browser,
`usable` the moment when the canvas shows the steps, `told` the
one when the stream has told the states of all. `gateway` is what the gateway holds at the end, `gateway_peak` the most that it held. A bare page of the same browser is measured beside it.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
FRAMES = """const done = arguments[0], canvas = document.querySelector('.canvas'), times = [];
    const send = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, {bubbles: true, clientX: x, clientY: y, pointerId: 1, button: 0, buttons: 1}));
    canvas.setPointerCapture = () => {};
    send('pointerdown', 700, 500);
    let n = 0, last = performance.now();
    const frame = () => {
        const now = performance.now();
        times.push(now - last);
        last = now;
        send('pointermove', 700 + 200 * Math.sin(n / 5), 500 + 100 * Math.cos(n / 7));
        if (++n <= 100) requestAnimationFrame(frame);
        else { send('pointerup', 0, 0); done(times.slice(1)); }
    };
    requestAnimationFrame(frame);"""
BARE = "data:text/html,<title>bare</title><p>bare"


def browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--disable-gpu", "--no-first-run", "--disable-extensions", "--force-device-scale-factor=1", "--window-size=1600,900",
                     "--user-data-dir=" + tempfile.mkdtemp(prefix="profile"), *(["--no-sandbox"] if os.geteuid() == 0 else [])):
        options.add_argument(argument)
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def wait(driver, script, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = driver.execute_script(script)
        if found:
            return found
        time.sleep(0.01)
    sys.exit("waited in vain: " + script)


def gateway(program, folder):
    process = subprocess.Popen([program, "ui", "--no-browser", "--data-dir", folder], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        found = re.search(r"(http://127\.0\.0\.1:\d+)/ui/#t=\S+", line)
        if found:
            return process, found.group(1), found.group(0)
    sys.exit("no link")


def memory_mib(pid, member):
    text = pathlib.Path("/proc/%d/status" % pid).read_text(encoding="ascii")
    return round(int(re.search(member + r":\s+(\d+)", text).group(1)) / 1024, 1)


def look(program, folder):
    """One look with a new profile. Returns its figures."""
    process, base, link = gateway(program, folder)
    driver = browser()
    try:
        driver.get(BARE)
        bare = driver.execute_script("return performance.getEntriesByType('navigation')[0].duration")
        driver.get(link)
        wait(driver, "return document.querySelector('.flows tbody a')")
        driver.get(base + "/ui/flows/default/bench")
        usable = wait(driver, "return document.querySelector('.canvas canvas')?.width > 300 && performance.now()")
        paint = driver.execute_script("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null")
        graph = driver.execute_script("const e = performance.getEntriesByType('resource').find(e => e.name.includes('/graph')); return [e.duration, e.decodedBodySize]")
        told = wait(driver, "return document.querySelector('.head .chips')?.dataset.told === 'true' && performance.now()")
        frames = driver.execute_async_script(FRAMES)
        driver.execute_script("document.querySelectorAll('.tools .tabs button')[2].click()")
        wait(driver, "return document.querySelectorAll('.steps tbody tr').length > 10")
        sort = driver.execute_script("""const t = performance.now(); document.querySelectorAll('.steps thead button')[1].click();
            document.querySelector('.steps').getBoundingClientRect(); return performance.now() - t""")
        heap = driver.execute_script("return performance.memory.usedJSHeapSize") / (1 << 20)
        return {"bare": bare, "first_paint": paint, "usable": usable, "graph": graph[0], "graph_bytes": graph[1], "frame_median": statistics.median(frames), "frame_slowest": max(frames),
                "sort": sort, "heap": heap, "told": told, "gateway": memory_mib(process.pid, "VmRSS"), "gateway_peak": memory_mib(process.pid, "VmHWM")}
    finally:
        driver.quit()
        process.terminate()
        process.wait()


def measure(program, steps, rounds):
    with tempfile.TemporaryDirectory() as folder:
        shape = "layered:%d:3" % steps
        with open(folder + "/f.yaml", "w", encoding="ascii") as out:
            subprocess.run([sys.executable, str(HERE / "gen_flow.py"), shape], stdout=out, check=True)
        subprocess.run([program, "run", "--runtime", "sim", "--data-dir", folder + "/d", "-o", "quiet", folder + "/f.yaml"], stdout=subprocess.DEVNULL, check=True)
        looks = [look(program, folder + "/d") for _ in range(rounds)]
    figures = {name: round(statistics.median(one[name] for one in looks), 1) for name in looks[0] if looks[0][name] is not None}
    return {"steps": steps, "rounds": rounds, **figures}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobflow", default=os.environ.get("JOBFLOW", str(HERE.parent / "build" / "release" / "jobflow")))
    parser.add_argument("--steps", default="40,2000,100000")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    for steps in arguments.steps.split(","):
        print(json.dumps(measure(arguments.jobflow, int(steps), arguments.rounds)), flush=True)


if __name__ == "__main__":
    main()
