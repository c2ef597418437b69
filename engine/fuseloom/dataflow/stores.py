"""Levels of intermediates that are better stored dense, by the estimate.

A level that is complete whatever the data can be stored dense: its coordinates are neither written
nor read, and it is looked up by position.  Where a region takes longer so, it scans the level, as
it does a compressed one; where that does not help either, the level stays compressed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.compiled_before import CompiledBefore
from fuseloom.dataflow.compiler import compile_program, compile_region
from fuseloom.dataflow.cost.estimate import EstimateContext, cost_region
from fuseloom.dataflow.cost.mode import EstimateMode
from fuseloom.dataflow.cost.numbers import RegionEstimate
from fuseloom.dataflow.fusion.directives import Store
from fuseloom.dataflow.fusion.region import FusedRegion, RegionOptions
from fuseloom.dataflow.fusion.views import Leaf
from fuseloom.dataflow.table.cells import Scan
from fuseloom.errors import FuseloomError
from fuseloom.program.dense_levels import densest
from fuseloom.program.formats import LevelFormat

ROUNDS = 8
"""The number of rounds in which levels that make a region worse become compressed again."""
NOISE = 0.001
"""Share by which cycles may be off that rest on samples or statistics."""

Levels = tuple[LevelFormat, ...]


def with_dense_levels(
    compilation: Compilation,
    context: EstimateContext,
    allowed: Sequence[str],
    before: CompiledBefore | None = None,
) -> Compilation:
    """A program whose complete levels between regions are dense where that helps.

    All orders stay.  No region takes more cycles, bytes or operations by the estimate than before,
    or the tensors that it reads and writes stay as they were.

    Parameters
    ----------
    allowed : sequence of str
        Names of the regions that may change: what one of these writes and others of them read.
    before : CompiledBefore, optional
        Where to look whether equal regions have been compiled, and to note them.
    """
    chosen = dict(_candidates(compilation, frozenset(allowed)))
    if not context.machine.has_searchers:  # it copies the reference, which writes all levels
        return compilation
    found = {r.name: cost_region(r, context) for r in compilation.regions}
    scanned: frozenset[str] = frozenset()
    for _ in range(ROUNDS):
        if not chosen:
            break
        try:
            stores = [Store(name, levels) for name, levels in chosen.items()]
            made = stored_otherwise(compilation, stores, scanned, before)
        except FuseloomError:
            break
        if made is None:
            break
        after = {r.name: cost_region(r, context) for r in made.regions}
        worse = {name for name in found if not _no_worse(found[name], after[name])}
        if not worse:
            helps = any(_better(found[name], after[name]) for name in found)
            return made if helps else compilation
        if not worse <= scanned:
            scanned |= worse
            continue
        touched = {t for r in made.regions if r.name in worse for t in _touched(r)}
        chosen = {
            name: levels
            for name, was in chosen.items()
            if LevelFormat.DENSE in (levels := _less(was) if name in touched else was)
        }
    return compilation


def _candidates(compilation: Compilation, allowed: frozenset[str]) -> Iterator[tuple[str, Levels]]:
    """Tensors between regions that can have dense levels, where the schedule does not say which."""
    program, said = compilation.program, compilation.schedule.of(Store)
    if any(store.tensor is None for store in said):
        return
    readers: dict[str, set[str]] = {}
    for region in compilation.regions:
        for name in region.region.inputs:
            readers.setdefault(name, set()).add(region.name)
    possible = densest(program)
    for region in compilation.regions:
        for name in region.region.outputs:
            if not {region.name, *readers.get(name, ())} <= allowed:
                continue
            if any(store.tensor == name for store in said):
                continue
            declared = LevelFormat.DENSE in program.tensor(name).format.levels
            if not declared and LevelFormat.DENSE in possible.get(name, ()):
                yield name, possible[name]


def _touched(region: CompiledRegion) -> set[str]:
    return {*region.region.inputs, *region.region.outputs}


def _less(levels: Levels) -> Levels:
    """The levels with the outermost of the dense ones compressed."""
    at = levels.index(LevelFormat.DENSE)
    return (*levels[:at], LevelFormat.COMPRESSED, *levels[at + 1 :])


def _no_worse(before: RegionEstimate, after: RegionEstimate) -> bool:
    exact = before.mode is after.mode is EstimateMode.EXACT
    share = 1.0 + (1e-9 if exact else NOISE)
    return (
        after.cycles <= before.cycles * share
        and after.bytes <= before.bytes * share
        and after.flops <= before.flops * share
    )


def _better(before: RegionEstimate, after: RegionEstimate) -> bool:
    return after.bytes < before.bytes or after.cycles < before.cycles


def stored_otherwise(
    compilation: Compilation,
    stores: Sequence[Store],
    scanned: Collection[str] = (),
    before: CompiledBefore | None = None,
) -> Compilation | None:
    """The same regions under the same orders, with tensors between them stored in other levels.

    Parameters
    ----------
    scanned : collection of str
        Names of the regions that scan these levels, where others look them up.
    before : CompiledBefore, optional
        As for :func:`with_dense_levels`.

    Returns
    -------
    Compilation or None
        None if that does not make the same regions.

    Raises
    ------
    FuseloomError
        If a level cannot be stored so, or an order cannot be built then.
    """
    if compilation.source is None:
        return None
    asked = replace(compilation.resolved, settings=(*compilation.resolved.settings, *stores))
    made = compile_program(compilation.source, asked, before=before)
    if [r.name for r in made.regions] != [r.name for r in compilation.regions]:
        return None
    regions = []
    for old, new in zip(compilation.regions, made.regions, strict=True):
        region = replace(new.region, chosen=old.region.chosen)
        options = region.options
        if new.name in scanned:
            options = _scanning(new.region, {str(store.tensor) for store in stores})
        options = _without_searches(new, options)
        if new.own_order == old.own_order and options == region.options:
            regions.append(replace(new, region=region))
        else:
            asked_region = replace(region, options=options)
            regions.append(compile_region(asked_region, old.own_order, before=before))
    chosen = (*compilation.stores, *stores)
    return replace(compilation, program=made.program, regions=tuple(regions), stores=chosen)


def _without_searches(compiled: CompiledRegion, options: RegionOptions) -> RegionOptions:
    """A region's options without the look-ups that dense levels have anyway."""
    if not options.locate or not options.looked_up:
        return options
    cells = compiled.table.cells
    plain = {
        level
        for level in options.looked_up
        if level in cells and isinstance(scan := cells[level].expression, Scan) and scan.dense
    }
    return replace(options, looked_up=options.looked_up - plain)


def _scanning(region: FusedRegion, tensors: Collection[str]) -> RegionOptions:
    """A region's options with the dense levels of some tensors scanned."""
    options = region.options
    for name, view in region.views.items():
        if isinstance(view, Leaf) and view.tensor in tensors:
            fmt = region.program.tensor(view.tensor).format
            for level, dimension in zip(fmt.levels, fmt.mode_order, strict=True):
                at = (name, view.indices[dimension])
                if level is LevelFormat.DENSE and at not in options.looked_up:
                    options = options.with_level(*at, False)
    return options
