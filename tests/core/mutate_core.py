#!/usr/bin/env python3
"""Changes core/ in one place at a time, its tables cell by cell, and looks whether a test notices.

    tests/core/mutate_core.py build/release        (after building core_test there)

Every change is compiled on its own and linked before the library, whose object it replaces; nothing in the tree
or in the build folder is touched. Prints the changes that no test noticed, and exits with 1 if there are any.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = ["kernel_in", "kernel_out", "host_in", "host_out", "to_device", "from_device", "peer_out", "peer_in"]


def is_a_cell(table, later, earlier):
    """False where no two requests can meet: the host's name the host's replica, all others a controller's."""
    if later in ("release", "wait"):
        return True
    of_host = [kind in ("host_in", "host_out") for kind in (later, earlier)]
    return of_host[0] == of_host[1] if table == "within_controller" else not all(of_host)


def table_changes(text):
    """One change per cell of the two tables of dependencies: a cross that goes, or one that comes."""
    for table in ("within_controller", "across_controllers"):
        start = text.index(f"constexpr Kinds {table}(")
        end = text.index("clang-format on", start)
        # A row is its labels and what it returns: several requests may share one.
        for row in re.finditer(r"((?:case \w+:(?: //[^\n]*)?\s*)+)return ([^;]*);", text[start:end]):
            named = row[2].strip()
            present = KINDS if named == "everything" else re.findall(r"\w+", named)
            for label in re.findall(r"case (\w+):", row[1]):
                for kind in filter(lambda k: is_a_cell(table, label, k), KINDS):
                    cells = [k for k in present if k != kind] + ([] if kind in present else [kind])
                    changed = f"if (later == {label}) return {{{', '.join(cells)}}};\n    "
                    at = text.index("switch (later)", start)
                    what = f"{table}: {label} {'without' if kind in present else 'with'} {kind}"
                    yield what, text[:at] + changed + text[at:]


def written_changes(changes):
    """Changes written down by hand: what stands in one place of one file, and what it becomes."""
    texts = {source: source.read_text() for source in sorted((ROOT / "core").rglob("*.cpp"))}
    for old, new in changes:
        places = [(source, text) for source, text in texts.items() if old in text]
        if len(places) != 1 or places[0][1].count(old) != 1:
            sys.exit(f"mutate_core.py is out of date: '{old}' does not stand in one place of core/")
        source, text = places[0]
        yield source, f"'{old}' -> '{new}'", text.replace(old, new or ";")


TRANSFERS = [
    (".reads_nothing = current.empty(), .moves", ".reads_nothing = false, .moves"),
    (".reads_nothing = current.empty(), .moves", ".reads_nothing = true, .moves"),
    ("plan.current.empty() || plan.current.has(replica)", "plan.current.empty()"),
    ("reachable; !peers.empty()", "reachable; peers.empty()"),
    ("reachable; !peers.empty()", "reachable; false"),
    ("plan.current & reachable", "plan.current"),
    ("move(peers.first(), replica)", "move(plan.current.first(), replica)"),
    ("if (!plan.current.has(host_replica)) move", "if (false) move"),
    ("if (replica != host_replica) move(host_replica, replica)", "if (false) move(host_replica, replica)"),
    ("plan.current.insert(to);", "static_cast<void>(to);"),
    ("    fetch(replica, reachable, plan);\n    return plan;", "    return plan;"),
    ("    fetch(replica, reachable, plan);\n    plan.current = {replica};", "    plan.current = {replica};"),
    ("    fetch(replica, reachable, plan);\n    plan.current = {replica};", "    fetch(replica, reachable, plan);"),
    ("if (!reads(access)) return", "if (false) return"),
    (".moves = {}, .current = {replica}};\n    TransferPlan plan = plan_input",
     ".moves = {}, .current = current};\n    TransferPlan plan = plan_input"),
    ("if (writes(access))", "if (false)"),
]

# What keeps the replicas of a tile, and who waits for whom, beyond the tables.
BEHAVIOUR = [
    ("            current_.erase(replica);\n            if (current_.empty()) poison_ = error;", ""),
    ("if (current_.empty()) poison_ = error;", ""),
    ("if (waits_for(request, entry.request)) dependencies.add(entry.slot, false);", ""),
    ("dependencies.add(producers_[replica], true);", ""),
    ("dependencies.add(producers_[replica], true);", "dependencies.add(producers_[replica], false);"),
    ("known->inherits |= inherits;", ""),
    ("lane != nullptr && lane == older.lane", "true"),
    ("    producers_[replica] = producer;\n    current_.insert(replica);", "    current_.insert(replica);"),
    ("    producers_[replica] = producer;\n    current_.insert(replica);", "    producers_[replica] = producer;"),
    ("    producers_[replica] = producer;\n    current_ = {replica};", "    current_ = {replica};"),
    ("    current_ = {replica};\n    poison_.reset();", "    current_.insert(replica);\n    poison_.reset();"),
    ("    poison_.reset();", ""),
    ("    current_.erase(replica);\n    if (replica < producers_.size())", "    if (replica < producers_.size())"),
    ("const Event wanted = dependency.inherits ? event : event.order_only();", "const Event wanted = event;"),
    ("if (!event.state() || !event.state()->settled() || !event.outcome()) return event;", "return event;"),
    ("before_on_lane.order_only()}", "Event{}}"),
    ("for (const Event& earlier : after) all.push_back(earlier.order_only());", ""),
    ("if (use.replica == host_replica) return replicas;", ""),
    ("&other->device() == &here || here.reaches(other->device())", "here.reaches(other->device())"),
    ("&other->device() == &here || here.reaches(other->device())", "true"),
    ("replicas.collect(request, after_);", ""),
    ("if (reads(use.access)) replicas.collect_producer(use.replica, after_);", ""),
    ("replicas.record(request, lane_, done_);", ""),
    ("if (writes(use.access)) replicas.written(use.replica, done_);", ""),
    ("    after_.remove(done_);", ""),
    ("    for (const Use& use : uses_) fetch(use);\n    for", "    for"),
    ("        for (const Move move : plan.moves) copy(*use.storage, tile, replicas, move);\n", ""),
    ("if (replicas.current().has(from)) return;", "return;"),
    ("if (!replicas.current().has(move.to)) copy", "if (true) copy"),
    ("if (!replicas.current().has(move.to)) copy", "if (false) copy"),
    ("replicas.collect_producer(move.to, after_);", ""),
    ("            failure_ = poison;", ""),
    ("!std::exchange(use.storage->warned_, true)", "false"),
    ("copy.storage == &storage && copy.move", "copy.move"),
    ("copy.move == move && copy.end", "copy.end"),
    (" && copy.end == tile.begin() &&", " &&"),
    (" &&\n               copy.producer == producer;", ";"),
    ("for (const Request& request : requests) replicas.collect(request, copy.after);", ""),
    ("    replicas.collect_producer(move.from, copy.after);\n", ""),
    ("for (const Request& request : requests) replicas.record(request, nullptr, copy.slot);", ""),
    ("requests = {{RequestKind::peer_out, move.from}, {RequestKind::peer_in, move.to}};",
     "requests = {{RequestKind::peer_in, move.to}};"),
    ("requests = {{RequestKind::peer_out, move.from}, {RequestKind::peer_in, move.to}};",
     "requests = {{RequestKind::peer_out, move.from}};"),
    ("if (lane_ != nullptr) lane_->last = event;", ""),
    ("storage.drain(tile.begin(), tile.end(), {RequestKind::wait, host_replica});", ""),
    ("        replicas.sweep();\n        if (replicas.poison()) throw", "        if (replicas.poison()) throw"),
    ("    drain(0, bytes_, {RequestKind::release, host_replica});", ""),
    ("new Tile(*this, begin, end, whole.replicas_)", "new Tile(*this, begin, end, Replicas(true))"),
    ("if (!slot->settled()) under_way.push_back(std::move(slot));", ""),
    ("        storage.drain(0, storage.bytes(), {RequestKind::release, replica}, !last);\n", ""),
    ("            Storage::replicas(*tile).sweep();\n", ""),
    ("            Storage::replicas(*tile).drop(replica);\n", ""),
    ("Event Controller::remember(Event event) {\n    if (!asynchronous_) static_cast<void>(event.outcome());",
     "Event Controller::remember(Event event) {"),
    ("if (!first_failure_) first_failure_ = std::move(failure);", ""),
    ("    for (const Event& event : events)\n        if (const ErrorPtr error = event.outcome(); error && !failure)",
     "    for (const Event& event : events)\n        if (const ErrorPtr error = event.outcome(); false)"),
    ("            error_ = root->error();", ""),
    ("        if (root->settled() && !root->error()) return;", "        if (root->settled()) return;"),
    ("            for (const auto& root : roots) keep(root);", ""),
    ("            if (state->settled()) keep(state);", ""),
    ("if (!state || !event.passes_failure()) continue;", "if (!state) continue;"),
    ("    ordered.passes_failure_ = false;", ""),
    ("    joined->inherit(open);", ""),
]


class Build:
    """Compiles and links as the build folder does."""

    def __init__(self, folder):
        self.folder = folder
        self.commands = json.loads((folder / "compile_commands.json").read_text())
        shown = subprocess.run(["ninja", "-C", folder, "-t", "commands", "core_test"], check=True,
                               capture_output=True, text=True).stdout
        link = [line for line in shown.splitlines() if re.search(r" -o bin/core_test\b", line)][-1]
        link = link.split("&&")[1] if "&&" in link else link
        self.link = shlex.split(link)

    def run_tests(self, source, text, test_filter):
        """None: does not compile. Else whether the tests passed."""
        with tempfile.TemporaryDirectory() as scratch:
            changed, made = pathlib.Path(scratch) / source.name, pathlib.Path(scratch) / "changed.o"
            changed.write_text(text)
            entry = next(c for c in self.commands if c["file"] == str(source))
            compile_ = shlex.split(entry["command"])
            compile_[compile_.index("-o") + 1] = str(made)
            compile_[compile_.index("-c") + 1] = str(changed)
            if subprocess.run(compile_, cwd=self.folder, capture_output=True).returncode != 0:
                return None
            link = list(self.link)
            program = pathlib.Path(scratch) / "core_test"
            link[link.index("-o") + 1] = str(program)
            link.insert(link.index("-o"), str(made))  # before the archive
            subprocess.run(link, cwd=self.folder, check=True, capture_output=True)
            try:
                done = subprocess.run([program, f"--gtest_filter={test_filter}", "--gtest_fail_fast"],
                                      capture_output=True, timeout=60,
                                      env={**os.environ, "HEADRACE_TEST_PROGRAMS": "3000"})
            except subprocess.TimeoutExpired:
                return False
            return done.returncode == 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("--only", default="", help="changes with this in their file's name or in what changes")
    arguments.add_argument("--tests", help="a GoogleTest filter instead of the tests of each table")
    options = arguments.parse_args()
    build = Build(options.build.resolve())

    dependencies = ROOT / "core/coherence/dependencies.cpp"
    cells = ((dependencies, what, text) for what, text in table_changes(dependencies.read_text()))
    tables = [
        (cells, "Dependencies.*:Replaces.*:CoherenceOrder.*"),
        (written_changes(TRANSFERS), "Transfers.*"),
        (written_changes(BEHAVIOUR), "ControllerTest.*:HostLane*:Coherence*:Event*:Misuse*:Programs.*"),
    ]
    tried, survived = 0, []
    for changes, test_filter in tables:
        for source, what, text in changes:
            if options.only not in f"{source.name}: {what}":
                continue
            passed = build.run_tests(source, text, options.tests or test_filter)
            tried += 1
            if passed is not False:
                survived.append(f"{source.name}: {what}" + ("" if passed else " (does not compile)"))
                print("not noticed:", survived[-1], flush=True)
    print(f"{tried} changes, {len(survived)} not noticed")
    return 1 if survived or tried == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
