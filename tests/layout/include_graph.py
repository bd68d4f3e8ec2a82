#!/usr/bin/env python3
"""Which file of the library includes which, and what is wrong with that.

    include_graph.py            prints the graph of folders as a Mermaid drawing, and every mistake; exit 1 if there are any

The rules (CONTRIBUTING.md, "Headers"):
- a floor includes headers of its own and of floors below it: core < devices < persistent < domains;
- kernels over grids (domains/grids) know nothing of persistent;
- <headrace/FLOOR/...> lies in FLOOR/include/, <headrace/internal/FLOOR/...> in FLOOR/internal/;
- "folder/name.hpp" lies in the floor that includes it, and no other folder sees it;
- what is public includes only what is public;
- programs (apps/) include neither internal headers nor those of a detail/ folder;
- no path climbs ("../").
"""
import collections
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLOORS = ["core", "devices", "persistent", "domains"]
FOLDERS = [*FLOORS, "apps", "bench", "tests"]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)


def sources():
    """Paths relative to the root."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".hpp", ".h", ".cuh", ".cpp", ".cu"} and path.is_file():
                yield path.relative_to(ROOT)


def is_public(path):
    return path.parts[0] in FLOORS and path.parts[1] == "include"


def find(source, bracket, spelling):
    """The file of this project that an include names, relative to the root; None if it is not the project's."""
    if bracket == "<":
        if not spelling.startswith("headrace/"):
            return None
        for floor in FLOORS:
            for kind in ("include", "internal"):
                path = pathlib.Path(floor, kind, spelling)
                if (ROOT / path).is_file():
                    return path
        return pathlib.Path("missing", spelling)
    if source.parts[0] not in FLOORS:
        return None  # programs and tests have folders of their own
    path = pathlib.Path(source.parts[0], spelling)
    return path if (ROOT / path).is_file() else None  # else it is generated, such as an embedded kernel


@functools.cache
def includes():
    """(file relative to the root, bracket, spelling)."""
    return [(source, *include) for source in sources() for include in INCLUDE.findall((ROOT / source).read_text())]


@functools.cache
def edges():
    """(file, file that it includes), both relative to the root."""
    found = ((source, find(source, bracket, spelling)) for source, bracket, spelling in includes())
    return [(source, target) for source, target in found if target is not None]


def mistakes():
    for source, _, spelling in includes():
        if source.parts[0] in FLOORS and spelling.startswith("../"):
            yield f"{source}: the path {spelling} climbs"
    for source, target in edges():
        origin, floor = source.parts[0], target.parts[0]
        if floor == "missing":
            yield f"{source}: there is no {target.relative_to('missing')}"
            continue
        if origin in FLOORS and FLOORS.index(floor) > FLOORS.index(origin):
            yield f"{source}: includes {target}, which is on a higher floor"
        if folder_of(source) == "domains/grids" and floor == "persistent":
            yield f"{source}: includes {target}: kernels over grids know no engine"
        if is_public(source) and not is_public(target):
            yield f"{source}: is public and includes {target}, which is not"
        if origin == "apps" and (target.parts[1] == "internal" or "detail" in target.parts):
            yield f"{source}: a program includes {target}, which may change at any time"


def folder_of(path):
    """A floor, or a folder of a floor that is a library of its own."""
    parts = [part for part in path.parts[:-1] if part not in {"include", "internal", "headrace", "detail"}]
    parts = [part for i, part in enumerate(parts) if i == 0 or part != parts[0]]
    own = {("domains", "grids"), ("domains", "streams"), ("devices", "cpu"), ("devices", "simt"), ("devices", "opencl")}
    return "/".join(parts[:2]) if tuple(parts[:2]) in own else parts[0]


def drawing():
    counts = collections.Counter(
        (folder_of(source), folder_of(target)) for source, target in edges()
        if source.parts[0] in FLOORS and folder_of(source) != folder_of(target))
    lines = ["flowchart TD"]
    lines += [f'    {a.replace("/", "_")}["{a}"] -->|{n}| {b.replace("/", "_")}["{b}"]' for (a, b), n in sorted(counts.items())]
    return "\n".join(lines)


if __name__ == "__main__":
    print(drawing())
    found = sorted(set(mistakes()))
    print("\n".join(found), file=sys.stderr)
    sys.exit(1 if found else 0)
