"""The served workbench in a browser: opening it, a drag, a run; what a visitor waits for.

    python -m benchmarks.page [--visits 5]

Seconds as the page's own clock counts them.  *Painted* is the first paint, the grey blocks;
*usable* is Run enabled and the graph drawn.  A *drag* is one step of a boundary by its arrow key,
until the estimates of all regions, the table and the graph are there and change no more; of
Karate GCN, and of one and two GPT-3 decoders (18 kernels each).  *All that follows* is until
nothing more changes in the chain, table or graph: what is computed more than once comes later.
*Prices* are counted from when the estimate of a new design is there: until the first price of a
boundary is, until every cut and every fusion has its own, and until every drag has, too.  A *run*
is from the click on Run to the checked cycles, the first click of each visit and the later
ones apart.  The first visit warms the server and is shown by itself.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from statistics import median

from playwright.sync_api import Page, sync_playwright

from benchmarks.sessions import quantile
from benchmarks.visitors import Server
from tests.browser.conftest import ARGUMENTS, chromium_path

PRICED = {
    "Karate GCN": "model=gcn&data=karate&schedule=fuse T1..T2; fuse T3..H; fuse T5..T6; fuse T7..Y",
    "GPT-3 decoders: 2": "model=gpt3&data=random&decoders=2&preset=partial",
}
"""Addresses of designs whose boundaries are priced."""
QUIET = 600
"""Milliseconds without a change after which a drag is over."""
_DEEP = """
function* deep(at, selector) {
  for (const node of at.querySelectorAll('*')) {
    if (node.matches(selector)) yield node
    if (node.shadowRoot) yield* deep(node.shadowRoot, selector)
  }
}
"""
_DRAG = f"""async ([gap, key, quiet, to]) => {{ {_DEEP}
  const at = gap => deep(document, `button.bar[data-gap='${{gap}}']`).next().value
  const bar = at(gap)
  const seen = ['.chain[role=group]', '[role=grid]', '.box[role=application]']
    .flatMap(name => [...deep(document, name)]).map(node => node.parentNode)
  const told = ['.caption', '[role=grid]', '.box[role=application]']
  const shown = () => told.flatMap(name => [...deep(document, name)]).map(n => n.textContent).join()
  bar.focus()
  const began = performance.now()
  let last = 0, there = 0, text = shown()
  const watch = new MutationObserver(() => {{
    last = performance.now()
    const now = shown()
    if (now !== text) [text, there] = [now, last]
  }})
  const all = {{ subtree: true, childList: true, characterData: true }}
  for (const node of seen) watch.observe(node, all)
  bar.dispatchEvent(new KeyboardEvent('keydown', {{ key, bubbles: true, composed: true }}))
  await new Promise(done => {{
    const timer = setInterval(() => {{
      if (last && performance.now() - last > quiet && at(to)) {{ clearInterval(timer); done() }}
    }}, 20)
  }})
  watch.disconnect()
  return [there, last].map(time => (time - began) / 1000)
}}"""
_PRICES = f"""async ([gap, key]) => {{ {_DEEP}
  const bar = deep(document, `button.bar[data-gap='${{gap}}']`).next().value
  const chain = deep(document, '.chain[role=group]').next().value
  const priced = () => [...deep(document, '.price')].filter(at => at.offsetParent !== null)
  const known = at => !at.classList.contains('unknown')
  const times = []
  const wait = async done => {{
    while (!done()) await new Promise(requestAnimationFrame)
    times.push(performance.now())
  }}
  bar.focus()
  bar.dispatchEvent(new KeyboardEvent('keydown', {{ key, bubbles: true, composed: true }}))
  await wait(() => chain.dataset.priced === 'false')
  await wait(() => priced().some(known))
  await wait(() => priced().every(known))
  await wait(() => chain.dataset.priced === 'true')
  return times.slice(1).map(time => (time - times[0]) / 1000)
}}"""
_RUN = f"""async () => {{ {_DEEP}
  const good = () => [...deep(document, '.out:not(.stale) .badge.good')].length > 0
  const button = deep(document, '[data-action=run]').next().value
  const began = performance.now()
  button.click()
  let left = false
  while (!(left && good())) {{
    await new Promise(requestAnimationFrame)
    left ||= !good()
  }}
  return (performance.now() - began) / 1000
}}"""


def opened(page: Page, address: str) -> dict[str, float]:
    """Open the page; seconds until it is painted and usable."""
    page.goto(address, wait_until="commit")
    page.locator("[data-action=run]:enabled").wait_for()
    page.locator("g.node").first.wait_for()
    usable = page.evaluate("performance.now()") / 1000
    painted = page.evaluate("performance.getEntriesByName('first-paint')[0].startTime") / 1000
    return {"painted": painted, "usable": usable}


def visit(page: Page, server: Server, took: dict[str, list[float]]) -> None:
    for name, seconds in opened(page, f"{server.url}/explorer").items():
        took[name].append(seconds)
    page.wait_for_timeout(2_000)
    gap = 4
    took["first run, Karate GCN"].append(page.evaluate(_RUN))
    for key, step in 3 * [("ArrowLeft", -1), ("ArrowRight", 1)]:
        drag(page, "Karate GCN", gap, key, step, took)
        gap += step
        page.wait_for_timeout(500)
    page.locator(f"button.bar[data-gap='{gap}']").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(1_500)
    took["later run, Karate GCN"].append(page.evaluate(_RUN))


def drag(
    page: Page, what: str, gap: int, key: str, step: int, took: dict[str, list[float]]
) -> None:
    there, last = page.evaluate(_DRAG, [gap, key, QUIET, gap + step])
    took[f"drag, {what}"].append(there)
    took[f"all that follows a drag, {what}"].append(last)


def decoders(page: Page, server: Server, number: int, took: dict[str, list[float]]) -> None:
    opened(
        page,
        f"{server.url}/explorer?model=gpt3&data=random&decoders={number}&preset=partial",
    )
    page.wait_for_timeout(3_000)
    free = page.locator("button.bar[data-gap]")
    gap = int(free.nth(free.count() // 2).get_attribute("data-gap"))
    for key, step in 3 * [("ArrowRight", 1), ("ArrowLeft", -1)]:
        drag(page, f"GPT-3 decoders: {number}", gap, key, step, took)
        gap += step
        page.wait_for_timeout(500)


def prices(page: Page, server: Server, what: str, query: str, took: dict[str, list[float]]) -> None:
    """Drag each boundary of a design once, and wait for the prices."""
    opened(page, f"{server.url}/explorer?{query}")
    free = page.locator("button.bar[data-gap]")
    for place in range(free.count()):
        page.locator("[data-priced=true]").wait_for()
        gap = int(free.nth(place).get_attribute("data-gap"))
        times = page.evaluate(_PRICES, [gap, "ArrowLeft"])
        for name, seconds in zip(("the first", "every cut and fusion", "all"), times, strict=True):
            took[f"prices, {what}: {name}"].append(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visits", type=int, default=5)
    options = parser.parse_args()
    took: dict[str, list[float]] = defaultdict(list)
    with Server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=[*ARGUMENTS])
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.set_default_timeout(60_000)
        for number in range(options.visits + 1):
            page = context.new_page()
            visit(page, server, took)
            page.close()
            if number == options.visits:
                for many in (1, 1, 2, 2):
                    context.clear_cookies()
                    page = context.new_page()
                    decoders(page, server, many, took)
                    page.close()
                for what, query in PRICED.items():
                    context.clear_cookies()
                    page = context.new_page()
                    prices(page, server, what, query, took)
                    page.close()
            context.clear_cookies()
            if not number:
                first, took = took, defaultdict(list)
        browser.close()
    for name, seconds in first.items():
        print(f"the very first visit: {name} {median(seconds):.2f} s")
    for name, seconds in took.items():
        print(f"{name}: median {median(seconds):.2f} s, p95 {quantile(seconds, 0.95):.2f} s, "
              f"of {len(seconds)}")  # fmt: skip


if __name__ == "__main__":
    main()
