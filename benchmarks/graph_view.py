"""The graph's drawing: seconds of layout, how far nodes move on small edits, frames while panning.

    python -m benchmarks.graph_view [--frames]

Layouts of GCN on Karate Club, fused whole, in more and more lanes, all kernels open, in seconds
of the processor.
How far nodes that stay move when a design is edited a little: median and 90th percentile, in
distances between neighbours, after the shift that most nodes share, which the view follows.  With
``--frames``, frames per second while about 800 nodes are dragged in headless Chromium.
"""

from __future__ import annotations

import argparse
import math
import shutil
import statistics
import time
from collections.abc import Callable

from fuseloom_workbench.graph import layout, view
from fuseloom_workbench.graph.sheet import sheet_of
from fuseloom_workbench.state.session import Session

Places = dict[str, tuple[float, float]]


def opened(schedule: str) -> Session:
    """GCN under a schedule, with every kernel of its graph open."""
    session = Session("gcn", "karate", schedule=schedule)
    session.fold(dict.fromkeys(sheet_of(session).drawn.net.groups, False))
    return session


def layouts() -> None:
    """Print what layouts take."""
    for lanes in (1, 2, 4, 8, 11, 14, 16):
        session = opened("fuse T1..Y" + f"; parallel i by {lanes}" * (lanes > 1))
        sheet = sheet_of(session)
        began = time.process_time()
        layout.draw(sheet.dot, "places")
        took = time.process_time() - began
        size = f"{sheet.folded.size:5,} nodes {len(sheet.folded.bundles):5,} edges"
        print(f"{size}  {took:6.2f} s of CPU time (expected {sheet.seconds:.2f} s)")


def places(session: Session) -> Places:
    """Return the positions of all shapes, by the identity that they keep over edits."""
    made = view.view(session, layout.draw(view.dot(session), "places"))
    nodes = made["nodes"]
    return {
        nodes[k]["same"] if k in nodes else k: (x, y) for k, (x, y, *_) in made["places"].items()
    }


def moved(name: str, session: Session, edit: Callable[[], object]) -> None:
    """Print how far an edit moves what stays."""
    before = places(session)
    edit()
    after = places(session)
    common = [key for key in before if key in after]
    dx, dy = (statistics.median(after[k][a] - before[k][a] for k in common) for a in (0, 1))
    far = sorted(math.dist((before[k][0] + dx, before[k][1] + dy), after[k]) for k in common)
    points = list(before.values())
    near = statistics.median(min(math.dist(p, q) for q in points if q is not p) for p in points)
    print(
        f"{name:34} {len(common):4} of {len(before):4} stay: "
        f"median {statistics.median(far) / near:5.2f}, 90 % {far[len(far) * 9 // 10] / near:5.2f}"
    )


def displacements() -> None:
    """Print how far small edits move nodes."""
    session = Session("gcn", "karate")
    scanned = "fuse T1..H; fuse T5..Y; locate off"
    moved("partial: nothing looked up", session, lambda: session.set_schedule(scanned))
    session.preset("partial")
    moved("partial: order i,p,k,n", session, lambda: session.set_order(0, ["i", "p", "k", "n"]))
    session.preset("full")
    moved(
        "full: nothing looked up", session, lambda: session.set_schedule("fuse T1..Y; locate off")
    )
    session.preset("full")
    order = ["i", "k", "p", "k'", "n", "m"]
    moved("full: p before k'", session, lambda: session.set_order(0, order))
    session.preset("full")
    moved("full: softmax folded", session, lambda: session.fold({"k:x": True}))
    moved("full: and +b2", session, lambda: session.fold({"k:x": True, "k:T7": True}))


FRAMES = """async () => { const gaps = []; let last = performance.now(); window.done = false
  while (!window.done) { await new Promise(requestAnimationFrame)
    const now = performance.now(); gaps.push(now - last); last = now }
  return gaps.slice(5, -2) }"""


def frames() -> None:
    """Print frames per second while a graph of about 800 nodes is dragged."""
    from panel.tests.util import serve_component
    from playwright.sync_api import sync_playwright

    from fuseloom_workbench.graph.graph_view import GraphView

    session = opened("fuse T1..Y; parallel i by 11")
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        arguments = ["--no-sandbox", "--disable-gpu"]
        page = playwright.chromium.launch(executable_path=path, args=arguments).new_page()
        page.set_viewport_size({"width": 1400, "height": 700})
        serve_component(page, lambda: GraphView(session, min_height=660))
        page.locator("g.node").first.wait_for(timeout=120_000)
        print(
            f"{page.locator('g.node').count():,} nodes, {page.locator('path.edge').count():,} edges"
        )
        for name, button in (("readable", "Readable size"), ("whole", "Fit the whole graph")):
            page.get_by_role("button", name=button).click()
            page.wait_for_timeout(800)
            box = page.locator(".box").bounding_box()
            assert box is not None
            x, y = box["x"] + 700, box["y"] + 300
            page.evaluate(f"window.frames_ = ({FRAMES})(); 0")
            page.mouse.move(x, y)
            page.mouse.down()
            until = time.monotonic() + 4
            for step in range(100_000):
                page.mouse.move(x - (step * 7) % 600, y - (step * 2) % 150)
                if time.monotonic() > until:
                    break
            page.mouse.up()
            gaps = page.evaluate("async () => { window.done = true; return await window.frames_ }")
            late = sorted(gaps)[len(gaps) * 19 // 20]
            rate = 1000 / statistics.mean(gaps)
            print(f"{name:9} {rate:5.1f} frames per second; 19 of 20 within {late:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", action="store_true", help="drag a large graph, too")
    given = parser.parse_args()
    layouts()
    displacements()
    if given.frames:
        frames()


if __name__ == "__main__":
    main()
