"""Imported modules as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from fuseloom.display import Content, Markup, bar, shown, table, tag
from fuseloom.frontends.torch.imported import Agreement, ImportedModule
from fuseloom.program.formats import format_text
from fuseloom.program.printer import statement_text
from fuseloom.wording import counted


def imported_html(imported: ImportedModule) -> Markup:
    """Show the statements of each operation, the stored tensors, and the possible fusions."""
    text = {s.out.tensor: statement_text(s) for s in imported.program.statements}
    operations: list[Sequence[Content]] = [
        (k.name, _place(k.place), tag("pre", "\n".join(text[name] for name in k.statements)))
        for k in imported.kernels
    ]
    presets = [(name, tag("code", said or "–")) for name, said in imported.presets.items()]
    return shown(
        tag("h4", f"{imported.program.name}: {counted(len(text), 'statement')}, "
                  f"{len(imported.kernels)} "
            "operations of the module"),
        table(["operation", "in the module", "statements"], operations),
        table(["data", "size", "format", "elements stored"], _data(imported)),
        table(["preset", "schedule"], presets),
        *([tag("ul", *(tag("li", n) for n in imported.notes))] if imported.notes else []),
    )  # fmt: skip


def _place(place: str) -> Content:
    """Show the source location, and below it the code there."""
    at, _, code = place.removesuffix("`)").partition(" (`")
    return [tag("div", at, class_="quiet"), tag("code", code)] if code else at


def _data(imported: ImportedModule) -> Iterator[Sequence[Content]]:
    for name, stored in imported.data.items():
        tensor = imported.program.tensor(name)
        every = prod(tensor.shape)
        share = stored.nnz / every if every else 0.0
        yield (
            tag("code", name),
            " × ".join(f"{size:,}" for size in tensor.shape) or "a number",
            format_text(tensor.format) if tensor.rank else "–",
            bar(share, f"{stored.nnz:,} of {every:,}"),
        )


def agreement_html(agreement: Agreement) -> Markup:
    """The verdict, green or red."""
    sign = "✓" if agreement.ok else "✕"
    return shown(tag("p", f"{sign} {agreement}", class_="good" if agreement.ok else "bad"))
