"""The parts of the build that pyproject.toml cannot say.

Notebooks and examples are kept in folders of their own at the top of the repository and copied
into the package while it is built, so that ``fuseloom notebooks`` can write them anywhere.

A package index shows the README apart from the repository.  Links in it to files become addresses
in the repository, which ``Source`` in ``[project.urls]`` names; while there is none, only their
text stays.
"""

import re
import tomllib
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


_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z]+:|#")


def readme_for_index(text: str, source: str | None, version: str) -> str:
    """Return a README whose links lead somewhere outside the repository, too.

    Parameters
    ----------
    text : str
        The README, in Markdown.
    source : str, optional
        The address of the repository, such as ``https://example.org/fuseloom``.
    version : str
        Files are those of the tag ``vVERSION``.
    """

    def absolute(link: re.Match[str]) -> str:
        if _ELSEWHERE.match(link["target"]):
            return link[0]
        if source is None:
            return "" if link["picture"] else link["text"]
        kind = "raw" if link["picture"] else "blob"
        address = f"{source.rstrip('/')}/{kind}/v{version}/{link['target']}"
        return f"{link['picture']}[{link['text']}]({address})"

    return _LINK.sub(absolute, text)


def _readme() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return readme_for_index(text, project["urls"].get("Source"), project["version"])


if __name__ == "__main__":
    setup(
        cmdclass={"build_py": BuildWithCourse},
        long_description=_readme(),
        long_description_content_type="text/markdown",
    )
