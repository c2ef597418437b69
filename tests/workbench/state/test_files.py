"""Models in files: shown with their data, presets and kernels, and there for every process."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl

import pytest

from fuseloom.models import load
from fuseloom.results.archive import ArchivedKernel, ModelArchive
from fuseloom_workbench.details.view import _kernel_card
from fuseloom_workbench.shell import view
from fuseloom_workbench.state import commands, files, saving, sources
from fuseloom_workbench.state.addresses import requests_of
from fuseloom_workbench.state.session import Session
from tests.workbench.input.files import send


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(files.VARIABLE, str(tmp_path / "uploads"))
    yield
    sources.forget()


@pytest.fixture
def archive(tmp_path):
    """GCN as if it had been imported from a module."""
    model, data = load("gcn", hidden=8)
    kernels = tuple(ArchivedKernel(k.name, k.statements, f"net.py:{n}")
                    for n, k in enumerate(model.kernels))  # fmt: skip
    path = tmp_path / "net.fuseloom"
    ModelArchive(model.program, data, model.presets, kernels).save(path)
    return path


def shown(archive, session: Session | None = None) -> Session:
    session = session or Session("spmv")
    told = send(session, archive.name, archive.read_bytes())
    assert told["state"] == "done", told
    assert session.ok, session.message
    return session


def test_it_is_shown_with_its_data_presets_and_kernels(archive):
    session, own = shown(archive), Session("gcn", "karate")
    own.set_options({"hidden": "8"})
    assert session.design.model.startswith("gcn@")
    assert session.presets == own.presets
    assert [unit.name for unit in session.built.units] == [unit.name for unit in own.built.units]
    assert session.estimate.cycles == own.estimate.cycles
    assert "net.py:1" in _kernel_card(session, 1)
    for name in own.presets:
        assert session.preset(name)
        assert own.preset(name)
        assert session.estimate.cycles == own.estimate.cycles


def test_it_stands_among_the_models(archive):
    session = shown(archive)
    rail = view.rail(session)
    assert rail["model"] == session.design.model == rail["models"][0]
    assert rail["datas"] == ["saved", "random"]
    before = session.estimate.cycles
    assert session.choose(session.design.model, "random"), session.message
    assert session.built.loaded.label == "random"
    assert session.choose(session.design.model, "saved")
    assert session.estimate.cycles == before
    assert session.undo()
    session.set_options({"hidden": "4"})
    assert "no sizes to choose" in session.message


def test_its_text_can_be_edited_and_keeps_its_data(archive):
    session = shown(archive)
    text = str(session.built.program)
    data = session.built.data
    session.set_program(text.replace("T3[i,n] = T2[i,n] + b1[n]", "T3[i,n] = relu(T2[i,n])"))
    assert session.ok, session.message
    assert all((session.built.data[n].values == data[n].values).all() for n in session.built.data)


def test_a_saved_session_and_an_address_open_it_again(archive):
    session = shown(archive)
    session.preset("full")
    again = Session("spmv")
    saving.restore(again, json.loads(json.dumps(saving.save(session))))
    assert again.configuration == session.configuration
    opened = Session("spmv")
    for name, *arguments in requests_of(dict(parse_qsl(view.address(session)[1:]))):
        commands.carry_out(opened, name, arguments)
        assert opened.ok, opened.message
    assert opened.configuration == session.configuration
    assert "for this server only" in view.stays(session)


def test_a_file_that_is_gone_is_named(archive):
    session = shown(archive)
    name = session.design.model
    for file in files.folder().glob("*.fuseloom"):
        file.unlink()
    sources.forget()
    other = Session("spmv")
    assert not other.choose(name)
    assert "is not here any more" in other.message
    assert other.design.model == "spmv"


@pytest.mark.parametrize("name", ["gcn@../../etc/passwd", "gcn@" + "0" * 13, "@" + "0" * 12, "x@"])
def test_no_other_file_is_opened(name):
    session = Session("spmv")
    assert not session.choose(name)
    assert "no model is called" in session.message


def test_what_is_no_model_is_refused(archive):
    session = Session("spmv")
    told = send(session, "net.fuseloom", archive.read_bytes()[:400])
    assert told["state"] == "refused"
    told = send(session, "net.fuseloom", b"program x\n")
    assert "this is no model" in told["message"]
    assert session.design.model == "spmv"
