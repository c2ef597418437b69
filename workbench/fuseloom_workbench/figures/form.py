"""The options of a configuration for visitors: a widget for each, made anew for each point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import panel_material_ui as pmui

from fuseloom.dataflow.machine import PRESETS
from fuseloom.experiments.configuration import Configuration
from fuseloom.experiments.recipes.orders import SWEPT
from fuseloom.models.datasets import PATTERNS

SYNTHETIC = (("nodes", 200), ("features", 64))
"""Sizes of a pattern that is chosen in place of a graph."""


def offered(configuration: Configuration) -> dict[str, Any]:
    """Return the options of a configuration: choices by name, or bounds.

    Numbers have ``(least, most, step)``.
    """
    graphs = ["karate", *PATTERNS, "cora", "cora_ml", "dblp", "collab"]
    found: dict[str, Any] = {}
    match configuration.workload:
        case "gcn" | "graphsage":
            found["data"] = graphs if configuration.workload == "gcn" else graphs[1:]
        case "nested":
            found["order"] = list(SWEPT)
    presets = {
        "gcn": ["unfused", "C+S", "partial", "full"],
        "nested": ["unfused", "full", "global"],
        "heads": ["unfused", "full"],
    }
    found["preset"] = presets.get(configuration.workload, ["unfused", "partial", "full"])
    found["machine"] = [name for name in PRESETS if not name.startswith("comal")]
    if configuration.workload in ("gcn", "graphsage", "images", "nested"):
        found["density"] = (0.05, 1.0, 0.05)
    if configuration.data in PATTERNS:
        found["sparsity"] = (0.5, 0.99, 0.01)
    if configuration.workload == "heads":
        found["block"] = [4, 8, 16, 32, 64]
    found["lanes"] = [1, 2, 4, 8]
    return found


def widgets_of(configuration: Configuration, changed: Callable[[Configuration], None]) -> list[Any]:
    """The widgets of a configuration.

    Parameters
    ----------
    changed : callable
        Called with the configuration as the widgets have it, whenever one changes.
    """
    made: dict[str, Any] = {}
    for name, choices in offered(configuration).items():
        value = value_of(configuration, name)
        label = {"data": "data set", "density": "density of weights"}.get(name, name)
        if isinstance(choices, tuple):
            least, most, step = choices
            at = min(max(float(value), least), most)
            made[name] = pmui.FloatSlider(
                label=label, value=at, start=least, end=most, step=step, width=200
            )
        else:
            options = choices if value in choices else [value, *choices]
            made[name] = pmui.Select(label=label, value=value, options=options, width=140)

    def tell(_: Any) -> None:
        changed(changed_by(configuration, {name: w.value for name, w in made.items()}))

    for widget in made.values():
        # a slider tells when it is let go
        throttled = "value_throttled" in widget.param
        widget.param.watch(tell, "value_throttled" if throttled else "value")
    return list(made.values())


def value_of(configuration: Configuration, name: str) -> Any:
    """Return the value of a configuration under a widget's name."""
    options = dict(configuration.options)
    match name:
        case "data" | "preset" | "machine":
            return getattr(configuration, name)
        case "order":
            return configuration.data
        case "lanes":
            return lanes_of(configuration)
        case "sparsity":
            return options.get(name, 0.95)
        case "density":
            return options.get(name, 0.5)
    return options.get(name)


def lanes_of(configuration: Configuration) -> int:
    """Lanes of its outermost index that is dealt; 1 where none is."""
    for part in configuration.settings.split(";"):
        words = part.split()
        if words[:1] == ["parallel"] and len(words) == 4:
            return int(words[3])
    return 1


def changed_by(configuration: Configuration, values: dict[str, Any]) -> Configuration:
    """The configuration with other values; what a change makes meaningless is left out."""
    options = dict(configuration.options)
    settings = [part.strip() for part in configuration.settings.split(";") if part.strip()]
    made = configuration
    for name, value in values.items():
        if value == value_of(configuration, name):
            continue
        match name:
            case "data":
                made = replace(made, data=value)
                for gone in ("nodes", "features", "sparsity"):
                    options.pop(gone, None)
                if value in PATTERNS:
                    options.update(SYNTHETIC)
                settings = [x for x in settings if not x.startswith(("order", "locate T"))]
            case "preset":
                made = replace(made, preset=value)
                settings = [x for x in settings if not x.startswith(("order", "fuse", "locate T"))]
            case "machine":
                made = replace(made, machine=value)
            case "order":
                made = replace(made, data=value)
                settings = [x for x in settings if not x.startswith("order")]
                if made.preset == "full":
                    settings.insert(0, f"order T..D: {','.join(value)}")
            case "lanes":
                settings = [x for x in settings if not x.startswith("parallel")]
                if value > 1:
                    settings.append(f"parallel {index_of(configuration)} by {value}")
            case _:
                options[name] = value
    return replace(made, options=tuple(options.items()), settings="; ".join(settings))


def index_of(configuration: Configuration) -> str:
    """The index whose elements are dealt to lanes: rows, or images."""
    return "b" if configuration.workload == "images" else "i"
