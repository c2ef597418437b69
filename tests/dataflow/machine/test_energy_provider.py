"""Energies from models of components: what is taken, what is kept, and how models fail.

The models are a small package with the interface of hwcomponents 1.0.114, and hwcomponents itself
where it is installed.
"""

from __future__ import annotations

import json
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from fuseloom.cli import doctor
from fuseloom.dataflow.machine import PRESETS, Energy, Machine
from fuseloom.dataflow.machine.energy_provider import ModelledMachine, with_modelled_energy
from fuseloom.dataflow.machine.text import parse_machine
from fuseloom.errors import SimulationError
from fuseloom.results.document import DocumentKind
from tests.cli.commands import error, output
from tests.schemas import check_document

CHOOSING = '''
class ActionCost:
    def __init__(self, energy, latency, throughput):
        self.energy, self.latency, self.throughput = energy, latency, throughput


class EstimatorError(Exception):
    pass


def get_model(component_name, component_attributes, required_actions=(), models=None):
    """Choose by name, and put what an exception says into a long message, as hwcomponents does."""
    import traceback

    import hwcomponents_cacti

    name = component_name.lower()
    known = {kind.__name__.lower(): kind for kind in hwcomponents_cacti.MODELS}
    if name not in known:
        raise EstimatorError(f"Component {name} is not supported by any models. Supported: ...")
    kind, lines = known[name], [f"Initializing {name}"]
    lacking = [action for action in required_actions if not hasattr(kind, action)]
    if lacking:
        lines.append(f"Model {kind.__name__} does not support action {lacking[0]}")
    else:
        wanted = kind.__init__.__code__.co_varnames
        try:
            return kind(**{k: v for k, v in component_attributes.items() if k in wanted})
        except Exception as problem:
            lines += [f"{type(problem).__name__}: {problem}", *traceback.format_exc().split("\\n")]
    log = "\\n|  | ".join([f"| {kind.__name__} with priority 0.3 estimating value: ", *lines])
    raise RuntimeError(
        f"Can not find an model model for {name}\\nLogs for models that could estimate query:\\n"
        f"{log}\\nWhy models did not estimate:\\n| {kind.__name__} with priority 0.3 estimating "
        f'value: {lines[-1]}\\n\\n.\\n.\\nTo see a list of models, run "hwc --list".'
    )
'''
MODELS = """
from hwcomponents import ActionCost

BROKEN = None


class SRAM:
    def __init__(self, tech_node, width=None, depth=None, size=None):
        if BROKEN:
            raise BROKEN
        assert (width, size) == (32, 65536)
        self.width = width
        self.energy = 5e-12 * (tech_node / 45e-9) ** 2

    def read(self, bits_per_action=None):
        return ActionCost(self.energy * (bits_per_action or self.width) / self.width, 1e-9, 1e9)

    def write(self, bits_per_action=None):
        return ActionCost(0.8 * self.read(bits_per_action).energy, 1e-9, 1e9)


class IntAdder:
    def __init__(self, tech_node, width):
        self.energy = 0.21e-12 * (tech_node / 40e-9) * width / 32

    def add(self):
        return ActionCost(self.energy, 1e-9, 1e9)


class HBM2:
    def __init__(self, width=2048):
        self.width = width

    def read(self, bits_per_action=None):
        return ActionCost(6.25e-12 * (bits_per_action or self.width), 1e-9, 1e9)

    write = read


MODELS = [SRAM, IntAdder, HBM2]
"""


def package(folder: Path, name: str, version: str | None, text: str) -> None:
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(text)
    if version:
        told = folder / f"{name}-{version}.dist-info"
        told.mkdir()
        (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The models of a small package, which is called as that of hwcomponents is."""
    for name in [name for name in sys.modules if name.partition("_")[0] == "hwcomponents"]:
        monkeypatch.delitem(sys.modules, name)
    package(tmp_path, "hwcomponents", "9.8.7", CHOOSING)
    package(tmp_path, "hwcomponents_cacti", "1.2.3", MODELS)
    (tmp_path / "hwcomponents_cacti" / "cacti").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    import hwcomponents_cacti

    yield hwcomponents_cacti
    for name in ("hwcomponents", "hwcomponents_cacti"):
        del sys.modules[name]


@pytest.fixture
def installed_models(request: pytest.FixtureRequest) -> None:
    """The models that are installed, or else those of the small package."""
    if find_spec("hwcomponents") is None:
        request.getfixturevalue("models")


def test_figures_of_models_replace_defaults(models: Any) -> None:
    made = with_modelled_energy(Machine.preset("hbm2"), 90)
    energy = made.machine.energy
    assert energy == Energy(sram_word=18.0, integer=0.4725, memory_bit=6.25, row_bit=0.0)
    assert made.machine.name == "hbm2"
    told = made.energy
    assert (told.provider, told.version, told.technology) == ("hwcomponents", "9.8.7", 90)
    figures = {figure.field: figure for figure in told.figures}
    sram = figures["sram_word"]
    assert sram.parameters == {"width": 32, "size": 65536, "tech_node": 90e-9}
    assert (sram.component, sram.actions) == ("SRAM", ("read", "write"))
    assert (sram.model, sram.version) == ("hwcomponents_cacti.SRAM", "1.2.3")
    assert sram.note == (
        "SRAM(width=32, size=65536, tech_node=9e-08), mean of read and write: "
        "SRAM of hwcomponents_cacti 1.2.3"
    )
    assert {name for name, figure in figures.items() if figure.model is None} == {
        "add", "multiply", "compare", "divide", "special",
    }  # fmt: skip
    kept = figures["multiply"]
    assert (kept.picojoules, kept.version) == (3.7, None)
    assert kept.note == "kept: no installed model has FPMultiplier(width=32, tech_node=9e-08)"
    assert figures["row_bit"].note == "in memory_bit: HBM2 has no action for rows"


def test_what_a_machine_has_itself_is_kept_too(models: Any) -> None:
    own = parse_machine('base = "ddr4"\n[energy]\nmultiply = 2.5\nsram_word = 1.0\nrow_bit = 3.0')
    made = with_modelled_energy(own)
    assert made.machine.energy == Energy(
        multiply=2.5, integer=0.23625, sram_word=4.5, memory_bit=None, row_bit=3.0
    )
    memory = made.energy.figures[-2]
    assert (memory.field, memory.picojoules) == ("memory_bit", None)
    assert memory.note == "kept: no installed model has DDR4"


def test_a_float_unit_of_ones_own_is_taken(models: Any) -> None:
    class FPAdder(models.IntAdder):
        pass

    models.MODELS.append(FPAdder)
    figure = with_modelled_energy(Machine.default(), 40).energy.figures[0]
    assert (figure.field, figure.picojoules) == ("add", 0.21)
    assert figure.version is None
    assert figure.note.endswith("FPAdder of tests")


def test_nothing_is_replaced_without_models(models: Any) -> None:
    models.MODELS.clear()
    made = with_modelled_energy(Machine.preset("hbm2"))
    assert made.machine == Machine.preset("hbm2")
    assert all(figure.note.startswith("kept: ") for figure in made.energy.figures)
    assert parse_machine(made.text()) == made.machine
    assert made.text().count("\n# add: kept: no installed model has FPAdder(") == 1


@pytest.mark.parametrize("name", PRESETS)
def test_the_file_says_of_each_figure_where_it_is_from(name: str, models: Any) -> None:
    made = with_modelled_energy(Machine.preset(name))
    text = made.text()
    assert parse_machine(text) == made.machine
    lines = text.splitlines()
    assert lines[0].startswith("# energies for 45 nm by hwcomponents 9.8.7")
    for figure in made.energy.figures:
        if f"# {figure.field}: {figure.note}" not in lines:
            place = lines.index(f"{figure.field} = {json.dumps(figure.picojoules)}")
            assert lines[place - 1] == f"# {figure.note}"


CACTI = "CACTI failed with exit code 1. Please check x.log for CACTI output. Run command: cd a; ./b"


@pytest.mark.parametrize(
    ("broken", "cause"),
    [
        (
            Exception(CACTI),
            "Exception: CACTI failed with exit code 1. Please check x.log for CACTI",
        ),
        (PermissionError(13, "Permission denied"), r"PermissionError: \[Errno 13\] Permission"),
    ],
)
def test_a_model_that_fails_is_named(broken: Exception, cause: str, models: Any) -> None:
    models.BROKEN = broken
    with pytest.raises(SimulationError, match=cause) as told:
        with_modelled_energy(Machine.default(), 28)
    wanted = "hwcomponents: the model of SRAM(width=32, size=65536, tech_node=2.8e-08) fails: "
    assert told.value.message.startswith(wanted)
    assert "Run command" not in told.value.message
    assert told.value.hint is not None
    assert told.value.hint.startswith("where CACTI does not start, compile it: make -C /")


def test_a_model_without_the_action_is_named(models: Any) -> None:
    del models.IntAdder.add
    with pytest.raises(SimulationError, match=r"IntAdder.* does not support action add") as told:
        with_modelled_energy(Machine.default())
    assert told.value.hint == "'hwc --list' names the components that installed models have"


@pytest.mark.parametrize("energy", [float("nan"), -1e-12, 1j, None])
def test_energies_that_are_none_are_refused(energy: Any, models: Any) -> None:
    models.HBM2.write = lambda self, bits_per_action: models.ActionCost(energy, 1.0, 1.0)
    with pytest.raises(SimulationError, match="the model of HBM2 fails: write takes"):
        with_modelled_energy(Machine.default())


def test_a_failing_action_is_named(models: Any) -> None:
    def read(self: Any, bits_per_action: int) -> Any:
        raise ValueError("no such\nbus")

    models.HBM2.read = read
    with pytest.raises(SimulationError, match="the model of HBM2 fails: ValueError: no such"):
        with_modelled_energy(Machine.default())


@pytest.mark.parametrize("technology", [1, 6, 91, 10**6])
def test_models_are_for_some_processes(technology: int, models: Any) -> None:
    with pytest.raises(SimulationError, match=f"no models of energy are for {technology:,} nm"):
        with_modelled_energy(Machine.default(), technology)


def test_that_hwcomponents_lacks_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "hwcomponents", None)
    told = error(capsys, "machine", "--energy-from", "hwcomponents")
    assert "hwcomponents is not installed" in told
    assert "pip install 'fuseloom[energy]', which needs Python 3.12 or later (this is 3." in told


def test_the_command_prints_the_file(models: Any, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("machine", "hbm2", "--energy-from", "hwcomponents")
    assert output(capsys, *options) == with_modelled_energy(Machine.preset("hbm2")).text()
    text = output(capsys, *options, "--technology", "22")
    assert text == with_modelled_energy(Machine.preset("hbm2"), 22).text()


def test_the_command_prints_json(models: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(output(capsys, "machine", "--energy-from", "hwcomponents", "--json"))
    check_document(shown, DocumentKind.MACHINE)
    made = with_modelled_energy(Machine.default())
    assert shown["modelled_energy"] == json.loads(json.dumps(made.energy.to_dict()))
    assert shown["energy"] == made.machine.energy.to_dict()
    assert shown["fingerprint"] == made.machine.fingerprint != Machine.default().fingerprint


def made_or_refused(technology: int) -> ModelledMachine | SimulationError:
    try:
        return with_modelled_energy(Machine.default(), technology)
    except SimulationError as problem:
        return problem


def test_models_that_are_installed(installed_models: None) -> None:
    """A word of 8 KiB is near the published one in 45 nm, and takes less in a later process."""
    made = [made_or_refused(technology) for technology in (45, 22)]
    for told in made:
        if isinstance(told, SimulationError):  # CACTI is compiled for a later C library
            assert told.message.startswith("hwcomponents: the model of SRAM(")
            assert told.hint is not None
            assert "make -C " in told.hint
            return
    old, new = (told for told in made if not isinstance(told, SimulationError))
    for figure, later in zip(old.energy.figures, new.energy.figures, strict=True):
        if figure.field in ("integer", "sram_word") and figure.model is not None:
            default = getattr(Energy(), figure.field)
            assert figure.version is not None
            assert figure.picojoules is not None
            assert later.picojoules is not None
            assert default / 4 < figure.picojoules < 4 * default
            assert later.picojoules < figure.picojoules
    assert parse_machine(old.text()) == old.machine


def test_the_doctor_tells_of_a_later_python(monkeypatch: pytest.MonkeyPatch) -> None:
    class Extras:
        def get_all(self, field: str) -> list[str]:
            return ["late", "early", "all"]

    lines = [
        "absent-late>=1; python_version >= '3.90' and extra == 'late'",
        "absent-early>=1; python_version < '3.9' and extra == 'early'",
        "absent-all>=1; extra == 'all'",
    ]
    monkeypatch.setattr(metadata, "requires", lambda name: lines)
    monkeypatch.setattr(metadata, "metadata", lambda name: Extras())
    checks = {found.name: found for found in doctor.findings() if found.group == "extras"}
    assert checks["late"].state == "missing"
    assert checks["late"].detail.startswith("absent-late: for a later Python than 3.")
    assert checks["late"].hint == "pip install 'fuseloom[late]'"
    assert checks["early"].state == "ok"
    assert checks["all"].detail == "lacks absent-all"
