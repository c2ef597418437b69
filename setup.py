"""The part of the build that pyproject.toml cannot say: notebooks and examples in the wheel.

They are kept in folders of their own at the top of the repository and copied into the package
while it is built, so that ``fuseloom notebooks`` can write them anywhere.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
COURSE = {"notebooks": "*.ipynb", "docs/examples": "*"}
"""Folders, and which of their files are copied (see ``fuseloom.cli.notebooks``)."""


class BuildWithCourse(build_py):
    """Copies the material into the package that is built; an editable install needs no copy."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for source, target in self._course():
                self.mkpath(str(Path(target).parent))
                self.copy_file(source, target)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        outputs: list[str] = super().get_outputs(include_bytecode)
        return [*outputs, *(target for _, target in self._course())]

    def _course(self) -> list[tuple[str, str]]:
        target = Path(self.build_lib, "fuseloom", "course")
        return [
            (str(path), str(target / folder / path.name))
            for folder, pattern in COURSE.items()
            for path in sorted((ROOT / folder).glob(pattern))
            if path.is_file() and not path.name.startswith(".")
        ]


setup(cmdclass={"build_py": BuildWithCourse})
