#!/usr/bin/python3
"""Makes the pictures of the page in docs/images: scripts/page_pictures.py [PROGRAM]

    page.png         examples/ml-pipeline while it runs
    page-dark.png    the drawer of one of its steps with its log, when it has ended; dark
    report.png       its report, opened as a file, beside a second run: what took more and less

Needs the packages chromium, chromium-driver, python3-selenium and python3-numpy (the pipeline itself).
"""
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ["JOBFLOW"] = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/release/jobflow"))
sys.path.insert(0, os.path.join(ROOT, "tests/web"))

from lib_browser import Background, Browser, Ui, wait_until  # noqa: E402
from lib import jobflow  # noqa: E402

EXAMPLE = os.path.join(ROOT, "examples/ml-pipeline")
IMAGES = os.path.join(ROOT, "docs/images")
WIDTH, HEIGHT = 1280, 640


def second_run():
    """Runs the pipeline again. Returns the lines of its history, without the head."""
    jobflow("run", EXAMPLE)
    return jobflow("history", "ml-pipeline").stdout.splitlines()[1:]


def main():
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        run = Background("run", EXAMPLE)
        wait_until("the pipeline runs", lambda: "Running" in jobflow("get", "jf", code=None).stdout)
        browser = Browser(Ui("jf/ml-pipeline"), width=WIDTH, height=HEIGHT)
        browser.wait("two models are trained", "return document.querySelector('.head')?.innerText.match(/Running\\s+[23]/)")
        browser.picture(os.path.join(IMAGES, "page.png"))
        run.wait()
        browser.wait("the page shows the store", "return document.querySelector('.server')?.textContent.includes('store')")
        browser.js("localStorage.setItem('jf-theme', 'dark')")
        browser.open("/ui/flows/default/ml-pipeline?view=time&step=train-large&tab=logs")
        browser.shows("The log has ended.")
        browser.picture(os.path.join(IMAGES, "page-dark.png"))
        browser.driver.quit()
        earlier = [line.split()[0] for line in second_run() if "." in line.split()[0]][0]
        jobflow("report", "jf/" + earlier, "jf/ml-pipeline", "-o", "report.html")
        browser = Browser(None, "/report.html#/compare?a=default/%s&b=default/ml-pipeline&step=train-large" % earlier, width=WIDTH, height=HEIGHT)
        browser.wait("the comparison", "return document.querySelector('.drawer.compared .differences, .drawer.compared .note')")
        browser.picture(os.path.join(IMAGES, "report.png"))
        browser.driver.quit()
        for background in Background.all:
            if background.running():
                background.signal(15)
                background.wait()
    print("pictures: docs/images/page.png, docs/images/page-dark.png, docs/images/report.png")


if __name__ == "__main__":
    main()
