"""The first contentful paint of each page of a warm server, in a browser.

    python -m benchmarks.paint [--visits 5]

Milliseconds as the browser's own clock counts them, from the request to the first text or picture
that is painted; of most pages this is the page's name, and their contents follow.  *Answered* is
when the server has made the page, *loaded* when the browser has all that the page itself names.
Each page is visited once before, so that the server has what it imports; every visit has an empty
cache of its own, as a newcomer's is, and begins when what the one before has left to do is over.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from benchmarks.visitors import Server
from fuseloom_workbench.base.page import PAGE_LINKS
from tests.browser.conftest import ARGUMENTS, chromium_path

PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
ANSWERED = "performance.getEntriesByType('navigation')[0].responseStart"
PAUSE = 2_000
"""Milliseconds between two visits."""
CLAIMED = 1_000
"""Milliseconds until the first contentful paint that no page may take longer than."""


def visit(browser: Browser, address: str) -> dict[str, float]:
    """Open a page as a newcomer; milliseconds until it is painted and loaded."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(address)
    page.wait_for_function(f"{PAINT} > 0 && {LOADED} > 0")
    kinds = {"painted": PAINT, "answered": ANSWERED, "loaded": LOADED}
    took = {name: page.evaluate(what) for name, what in kinds.items()}
    page.wait_for_timeout(PAUSE)
    context.close()
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visits", type=int, default=5)
    options = parser.parse_args()
    late = []
    with Server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=[*ARGUMENTS])
        for name in ("", *PAGE_LINKS):
            first = visit(browser, f"{server.url}/{name}")
            took = defaultdict(list)
            for _ in range(options.visits):
                for what, time in visit(browser, f"{server.url}/{name}").items():
                    took[what].append(time)
            painted, answered, loaded = took["painted"], took["answered"], took["loaded"]
            late += [name for time in painted if time > CLAIMED]
            print(
                f"/{name}: painted median {median(painted):,.0f} ms, most {max(painted):,.0f} ms; "
                f"answered median {median(answered):,.0f} ms, "
                f"loaded median {median(loaded):,.0f} ms; the very first visit painted "
                f"{first['painted']:,.0f} ms"
            )
        browser.close()
    print(f"within {CLAIMED:,} ms:", f"not {sorted(set(late))}" if late else "every visit")


if __name__ == "__main__":
    main()
