"""Schedules that were found, and their proofs, as a notebook shows them."""

from __future__ import annotations

from fuseloom.dataflow.machine.space import settings_text
from fuseloom.display import Content, Drawing, Markup, bar, shown, table, tag
from fuseloom.exploration.autoschedule import Autoscheduled, Choice
from fuseloom.exploration.best import BestSchedule
from fuseloom.exploration.certificate import Certificate
from fuseloom.exploration.designs import Codesign
from fuseloom.wording import counted

WIDE, HIGH = 560.0, 62.0
"""Pixels of the picture of a bound."""
_LEFT = 10.0


def certificate_drawing(proof: Certificate) -> Drawing:
    """Cycles from 0 to those found: below the bound no schedule is, above it one may be."""
    found, low = f"found: {counted(proof.cycles, 'cycle')}", f"bound: {proof.bound:,.0f}"
    scale = (WIDE - 2 * _LEFT) / max(proof.cycles, 1.0)
    edge, end = _LEFT + proof.bound * scale, _LEFT + proof.cycles * scale
    pieces = [
        tag("rect", x=_LEFT, y=24.0, width=max(edge - _LEFT, 0.0), height=16.0,
            fill="var(--good-bg)", stroke="var(--good)"),
        tag("rect", x=edge, y=24.0, width=max(end - edge, 0.0), height=16.0,
            fill="var(--warn-bg)", stroke="var(--warn)"),
        tag("path", d=f"M{end:.1f} 18V46", stroke="var(--ink)", stroke_width=2.5),
        tag("text", found, x=end, y=13.0, text_anchor="end"),
        tag("text", low, x=max(edge, 90.0), y=58.0, text_anchor="end", class_="quiet"),
        tag("text", "no schedule of the space", x=_LEFT + 8, y=36.0, class_="quiet")
        if edge - _LEFT > 170 else Markup(""),
    ]  # fmt: skip
    title = f"Nothing takes fewer than {counted(proof.bound, 'cycle')}; {found}"
    return Drawing(title, title, WIDE, HIGH, Markup("".join(pieces)))


def best_html(found: BestSchedule) -> Markup:
    """The schedule, its proof, and a row for each preset."""
    run, most = found.found.run, max([p.cycles or 0 for p in found.presets] + [found.cycles]) or 1
    rows: list[tuple[Content, ...]] = [
        (p.name, p.reason, "", "")
        if p.cycles is None
        else (p.name, bar(p.cycles / most, f"{p.cycles:,.0f}"), f"{p.bytes:,.0f}", f"{p.regions:,}")
        for p in found.presets
    ]
    regions = f"{len(found.compilation.regions):,}"
    cycles = bar(found.cycles / most, f"{found.cycles:,} (simulated)")
    rows.append((tag("strong", "best"), cycles, f"{run.work.bytes:,}", regions))
    heads = ["schedule", "cycles", "bytes", "regions"]
    return shown(
        tag("h4", f"{counted(found.cycles, 'cycle')}; {found.found.certificate.verdict}"),
        table(heads, rows, figures=(2, 3)),
        tag("pre", found.schedule.replace("; ", "\n")),
    )


def certificate_html(proof: Certificate) -> Markup:
    """The bound, what became of all candidates, and what is not searched."""
    return shown(*_proof(proof))


def _proof(proof: Certificate) -> list[Content]:
    if proof.bound <= 0:
        said = "Nothing is proved."
    elif proof.gap == 0:
        said = "Proved: no schedule of this space takes fewer cycles."
    else:
        said = f"Proved: a better schedule of this space is better by {proof.gap:.1%} at most."
    ran = "" if proof.simulated else " The cycles are those of an estimate."
    counts = [(what, f"{many:,}") for what, many in sorted(proof.counts.items()) if many]
    return [
        Markup(certificate_drawing(proof)._repr_html_()),
        tag("p", said + ran, class_="good" if proof.gap == 0 and proof.bound > 0 else None),
        tag("p", f"Not searched: {'; '.join(proof.unsearched)}.", class_="quiet")
        if proof.unsearched
        else None,
        tag(
            "details",
            tag("summary", "What became of the candidates for executing parts of the program"),
            table(["became", "candidates"], counts, figures=[1]),
        )
        if counts
        else None,
    ]


def autoscheduled_html(found: Autoscheduled) -> Markup:
    """The schedule, its proof, why it is as it is, and what else is on the front."""
    lines = "\n".join(found.schedule.split("; ")) or "every statement by itself"
    parts: list[Content] = [
        tag("h4", f"{counted(found.cycles, 'cycle')}, of {found.space}"),
        tag("pre", lines),
        *_proof(found.certificate),
        tag("ul", (tag("li", reason) for reason in found.reasons)),
    ]
    if found.choices:
        parts.append(_choices(found.choices))
    return shown(*parts)


def codesign_html(found: Codesign) -> Markup:
    """The best machine with its schedule, its proof, and what each parameter costs."""
    design = found.design
    lines = "\n".join(design.schedule.split("; ")) or "every statement by itself"
    values = [m.value for m in found.machines if m.value is not None]
    most = max(values, default=1.0) or 1.0
    machines = [
        (
            settings_text(m.settings),
            "" if m.value is None else bar(m.value / most, f"{m.value:.6g}"),
            f"{m.bound:.6g}",
            m.verdict,
        )
        for m in sorted(found.machines, key=lambda m: (m.value is None, m.value or 0.0))
    ]
    effects = [
        (e.parameter, f"{e.setting}", "" if e.value is None else f"{e.value:.6g}", f"{e.bound:.6g}")
        for e in found.effects
    ]
    front = [
        (settings_text(d.settings), f"{d.seconds:.6g}", f"{d.energy:.6g}", f"{d.area:,.0f}",
         tag("code", d.schedule or "every statement by itself"))
        for d in found.front or ()
    ]  # fmt: skip
    unit = found.unit
    return shown(
        tag("h4", f"{found.objective} {found.value:.6g} {unit}: {settings_text(design.settings)}"),
        tag("p", f"{found.verdict}."),
        tag("pre", lines),
        table(("machine", f"found, {unit}", f"at least, {unit}", ""), machines, figures=(2,)),
        table(("parameter", "value", f"found, {unit}", f"at least, {unit}"), effects,
              figures=(2, 3)),
        table(("no design beats", "time, s", "energy, J", "area, LUTs", "schedule"), front,
              figures=(1, 2, 3)) if front else None,
    )  # fmt: skip


def _choices(choices: tuple[Choice, ...]) -> Markup:
    most = max(choice.cost.cycles for choice in choices) or 1.0
    rows = [
        (
            tag("code", choice.schedule or "every statement by itself"),
            bar(choice.cost.cycles / most, f"{choice.cost.cycles:,.0f}"),
            f"{choice.cost.bytes:,.0f}",
            f"{choice.cost.on_chip:,.0f}",
            f"{choice.cost.lanes}",
            "simulated" if choice.simulated else "estimated",
        )
        for choice in choices
    ]
    heads = ("no schedule beats", "cycles", "bytes", "on chip, bytes", "lanes", "")
    return table(heads, rows, figures=(2, 3, 4))
