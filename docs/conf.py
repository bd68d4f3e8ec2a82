"""The site of the documentation, by Sphinx, without a network: `.ci/site` builds it into build/site.

Pages are the Markdown files of this folder and the READMEs of programs. The C++ reference comes from the comments of the public
headers (Doxygen, Breathe).
"""

import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "site"

project = "Headrace"
copyright = "The Headrace authors"
release = re.search(r"project\(headrace VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)

extensions = ["myst_parser", "breathe"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 4
html_theme = "sphinx_rtd_theme"
html_show_sourcelink = False
breathe_projects = {"headrace": str(OUT / "doxygen" / "xml")}
breathe_default_project = "headrace"
suppress_warnings = ["myst.header"]

INSTEAD = {}  # files of the project: the page that shows them


def copy_program_pages(source: pathlib.Path) -> None:
    """READMEs of programs become pages; their pictures come along."""
    pages = source / "programs"
    pages.mkdir(exist_ok=True)
    lines = ["# Programs", "", "```{toctree}", ":maxdepth: 1"]
    for readme in sorted((ROOT / "apps").glob("*/README.md")):
        name = readme.parent.name
        INSTEAD[readme] = f"programs/{name}.md"
        INSTEAD[readme.parent] = f"programs/{name}.md"
        shutil.copy(readme, pages / f"{name}.md")
        for picture in [*readme.parent.glob("*.png"), *readme.parent.glob("*.svg")]:
            shutil.copy(picture, pages)
        if name not in ("python",):
            lines.append(name)
    (pages / "README.md").write_text("\n".join([*lines, "```", ""]))
    INSTEAD[ROOT / "apps"] = "programs/README.md"


def link_to_pages(app, docname, text) -> None:
    """Links to files that are no pages become text; the others lead to their pages."""
    page = pathlib.Path(app.env.doc2path(docname)).relative_to(app.srcdir)
    name = page.stem if page.parts[0] == "programs" else None
    origin = ROOT / "docs" / page if name is None else ROOT / "apps" / name / "README.md"
    up = "../" * (len(page.parts) - 1)

    def link(found: re.Match) -> str:
        label, target = found.group(1), found.group(2)
        if re.match(r"[a-z]+:|#", target):
            return found.group(0)
        file, _, anchor = target.partition("#")
        if (pathlib.Path(app.srcdir) / page.parent / file).is_file():
            return found.group(0)
        wanted = (origin.parent / file).resolve()
        instead = INSTEAD.get(wanted) or INSTEAD.get(wanted.parent if wanted.name == "README.md" else None)
        if instead is None and wanted.is_relative_to(ROOT / "docs") and wanted.is_file():
            instead = str(wanted.relative_to(ROOT / "docs"))
        if instead is None:
            return label
        return f"[{label}]({up}{instead}{'#' + anchor if anchor else ''})"

    def picture(found: re.Match) -> str:
        if (pathlib.Path(app.srcdir) / page.parent / found.group(2)).is_file():
            return found.group(0)
        return f"![{found.group(1)}]({up}programs/{pathlib.Path(found.group(2)).name})"

    text[0] = text[0].replace("```mermaid", "```text")  # forges draw these; Debian has nothing that does
    text[0] = re.sub(r"!\[([^][]*)\]\(([^()\s]+)\)", picture, text[0])
    text[0] = re.sub(r"(?<!\!)\[((?:[^][]|\[[^][]*\])*)\]\(([^()\s]+)\)", link, text[0])


def run_doxygen() -> None:
    folders = " ".join(str(ROOT / floor / "include") for floor in ("core", "devices", "persistent", "domains"))
    (OUT / "doxygen").mkdir(parents=True, exist_ok=True)
    settings = f"""
        PROJECT_NAME = Headrace
        INPUT = {folders}
        RECURSIVE = YES
        EXCLUDE_PATTERNS = */detail/*
        OUTPUT_DIRECTORY = {OUT / "doxygen"}
        GENERATE_HTML = NO
        GENERATE_LATEX = NO
        GENERATE_XML = YES
        JAVADOC_AUTOBRIEF = YES
        MACRO_EXPANSION = YES
        EXPAND_ONLY_PREDEF = YES
        PREDEFINED = HEADRACE_EXPORT= HEADRACE_KERNEL= HEADRACE_FUNCTION=
        QUIET = YES
        WARN_LOGFILE = /dev/null
    """
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)


def setup(app) -> None:
    copy_program_pages(pathlib.Path(app.srcdir))
    run_doxygen()
    app.connect("source-read", link_to_pages)
