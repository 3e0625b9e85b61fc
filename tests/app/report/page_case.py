"""What the tests of every page share: pages that make_page writes, opened in headless Chromium."""

import argparse
import array
import pathlib
import subprocess
import sys
import tempfile
import unittest

from devtools import Browser, find_chromium


def numbers(path):
    """float32, as make_page writes the maps of a page."""
    return array.array("f", path.read_bytes())


class PageCase(unittest.TestCase):
    """A browser, and a folder of pages."""

    make_page = None  # the program

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="vitascope-page-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = pathlib.Path(cls.folder.name)
        subprocess.run([cls.make_page, cls.path], check=True)
        cls.browser = Browser(find_chromium())
        cls.addClassCleanup(cls.browser.close)

    def open(self, name="sample", width=1280, height=900, **media):
        self.browser.open(self.path / f"{name}.html", width, height, **media)

    def tearDown(self):
        """Whatever a test did: nothing was complained of, nothing asked for over the network."""
        complaints = self.browser.seen(
            "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded",
            "Page.javascriptDialogOpening")
        self.assertEqual(complaints, [])
        asked = [request["request"]["url"].split(":")[0]
                 for request in self.browser.seen("Network.requestWillBeSent")]
        self.assertEqual(set(asked), {"file", "data"})
        self.assertEqual(asked.count("file"), 1)

    def pixel(self, x, y, canvas="document.getElementById('overlay')"):
        """What the canvas over a photo has at a place of the window: red, green, blue, alpha."""
        return self.browser.evaluate(
            f"(() => {{const drawn = {canvas}, from = drawn.getBoundingClientRect();"
            "const copy = document.createElement('canvas').getContext('2d');"
            f"copy.drawImage(drawn, from.left - {x}, from.top - {y});"
            "return [...copy.getImageData(0, 0, 1, 1).data]})()")

    def assert_policy(self):
        """The page that is open loads nothing and runs nothing that was not built in."""
        tries = self.browser.evaluate("""new Promise(async (done) => {
          const blocked = [];
          document.addEventListener(
              'securitypolicyviolation', (e) => blocked.push(e.effectiveDirective));
          await fetch('http://127.0.0.1:9/').catch(() => 0);
          new Image().src = 'http://127.0.0.1:9/a.png';
          const script = document.createElement('script');
          script.textContent = 'window.broken = true';
          document.body.append(script);
          document.body.setAttribute('style', 'color: red');
          setTimeout(() => done([...new Set(blocked)].sort().concat(String(window.broken))), 200);
        })""")
        self.assertEqual(
            tries, ["connect-src", "img-src", "script-src-elem", "style-src-attr", "undefined"])
        # Requests that the policy stops are reported none the less, and complained of: as wanted.
        blocked = {f["requestId"] for f in self.browser.seen("Network.loadingFailed")
                   if f.get("blockedReason") == "csp"}
        self.browser.events = [
            e for e in self.browser.events
            if e.get("method") != "Log.entryAdded" and e["params"].get("requestId") not in blocked]

    def assert_no_width_scrolls(self, *names):
        for width in (320, 390, 700, 701, 1280, 1920):
            for name in names:
                self.open(name, width)
                self.assertEqual(
                    self.browser.evaluate("document.documentElement.scrollWidth"), width, name)


def take_screenshots(case, folder, names, touch):
    subprocess.run([case.make_page, folder], check=True)
    browser = Browser(find_chromium())
    for width, height in ((1280, 900), (390, 844)):
        for dark in (False, True):
            for name in names:
                browser.open(folder / f"{name}.html", width, height, dark=dark)
                touch(browser)
                browser.evaluate("0")
                browser.screenshot(folder / f"{name}-{width}-{'dark' if dark else 'light'}.png")
    browser.close()


def run(case, names, touch):
    """`TEST MAKE_PAGE [--screenshots FOLDER]`: the tests of a case; with --screenshots its pages are
    only photographed, wide and narrow, light and dark, after `touch`. Exit status 77, which ctest
    calls skipped, where no Chromium is installed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("make_page")
    parser.add_argument("--screenshots", type=pathlib.Path)
    known, rest = parser.parse_known_args()
    case.make_page = known.make_page
    if not find_chromium():
        print("skipped: Chromium is not installed (Debian's package chromium); no page was opened")
        sys.exit(77)
    if known.screenshots:
        sys.exit(take_screenshots(case, known.screenshots.resolve(), names, touch))
    unittest.main(argv=[sys.argv[0], *rest])
