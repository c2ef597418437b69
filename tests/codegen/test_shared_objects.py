"""Compilers of C and C++, and what they make."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuseloom.codegen.shared_objects import CPP, C, SourceLanguage, find_compiler, load_library
from fuseloom.errors import LoweringError, ProgramError

from .adding import script


@pytest.mark.parametrize("language", [C, CPP], ids=lambda one: one.name)
def test_the_compiler_that_is_chosen(
    language: SourceLanguage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = find_compiler(language)
    assert found is not None
    assert found.version
    monkeypatch.setenv(language.variable, found.path)
    assert find_compiler(language) == found
    for wrong in (str(tmp_path / "none"), script(tmp_path / "false", "exit 1")):
        monkeypatch.setenv(language.variable, wrong)
        with pytest.raises(ProgramError, match=f"^{language.variable} names .* is no compiler"):
            find_compiler(language)


def test_a_library_is_compiled_once(folder: Path, anew) -> None:
    source = 'extern "C" int seven() { return 7; }\n'
    compiler = find_compiler(CPP)
    assert compiler is not None
    assert not load_library(source, CPP, compiler, ()).reused
    anew()
    again = load_library(source, CPP, compiler, ())
    assert again.reused
    assert again.functions.seven() == 7
    assert len(list(folder.glob("*.so"))) == 1


def test_what_is_no_program_is_refused(folder: Path) -> None:
    compiler = find_compiler(CPP)
    assert compiler is not None
    with pytest.raises(LoweringError, match=r"does not compile this: .*error") as refused:
        load_library("int unused() { int x; }\n", CPP, compiler, ())
    assert refused.value.hint == "use the generated Python, or another compiler"
    assert not list(folder.glob("*.so"))
