#!/usr/bin/env python3
"""Kills ranks of headrace-fluorescence at random times, and compares what the others write with a run of one process.

    bench/kill_ranks.py build/release/bin sample.mci --photons 1600000 --kills 200 --cores 4 --workers 7

One rank other than rank 0 is killed in each run, at most two seconds after the first checkpoint. It needs mpirun of Open MPI 4,
Linux, and as many cores as workers x cores. Exit code 1 if a run has written other bytes.
"""
import argparse
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

RANKS = (2, 3, 4, 7)


def grids(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.glob("g.*"))}


def process_of(mark, rank):
    """The process id of a rank; None: it has ended."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            if (entry / "comm").read_text().startswith("headrace-fluor") and mark in environment \
                    and f"OMPI_COMM_WORLD_RANK={rank}".encode() in environment:
                return int(entry.name)
        except OSError:  # it has ended meanwhile
            pass
    return None


class Runs:
    def __init__(self, options, folder):
        self.options, self.folder, self.lock = options, folder, threading.Lock()
        self.left, self.results = options.kills, []
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", HEADRACE_CALIBRATIONS="")

    def command(self, folder, *more):
        return [str(self.options.programs.resolve() / "headrace-fluorescence"), "--input", str(self.options.input.resolve()), "--photons",
                str(self.options.photons), "--devices", "cpu", "--quiet", "--grids", str(folder / "g"), *more]

    def on_cores(self, worker):
        first = worker * self.options.cores
        return ["taskset", "-c", f"{first}-{first + self.options.cores - 1}"]

    def mpirun(self, ranks):
        return ["timeout", "-k", "5", "120", "mpirun", "--mca", "orte_enable_recovery", "1", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]

    def undisturbed(self, ranks):
        """Seconds, and what it writes."""
        folder = self.folder / "undisturbed"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        launcher = self.mpirun(ranks) if ranks > 1 else []
        more = ["--on-loss", "continue"] if ranks > 1 else []
        begin = time.monotonic()
        subprocess.run(self.on_cores(0) + launcher + self.command(folder, *more), env=self.environment, check=True)
        return time.monotonic() - begin, grids(folder)

    def kill_one(self, worker, wanted):
        ranks = random.choice(RANKS)
        folder = self.folder / f"worker{worker}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        mark = f"KILL_RANKS={random.randrange(1 << 60)}"
        checkpoint = folder / "c"
        begin = time.monotonic()
        run = subprocess.Popen(self.on_cores(worker) + self.mpirun(ranks) +
                               self.command(folder, "--on-loss", "continue", "--checkpoint", str(checkpoint), "--checkpoint-every", "0.5"),
                               env=dict(self.environment, KILL_RANKS=mark.split("=")[1]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not checkpoint.exists() and run.poll() is None:
            time.sleep(0.005)
        time.sleep(random.uniform(0, 2))
        process = process_of(mark.encode(), random.randrange(1, ranks))
        if process is not None:
            os.kill(process, 9)
        run.wait()
        with self.lock:
            self.results.append((ranks, process is not None, time.monotonic() - begin, grids(folder) == wanted))

    def work(self, worker, wanted):
        while True:
            with self.lock:
                if self.left == 0:
                    return
                self.left -= 1
            self.kill_one(worker, wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="folder of headrace-fluorescence")
    parser.add_argument("input", type=pathlib.Path, help="its input")
    parser.add_argument("--photons", type=int, default=1_600_000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--cores", type=int, default=4, help="of one run")
    parser.add_argument("--workers", type=int, default=1, help="runs at a time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(options, pathlib.Path(folder))
        alone, wanted = runs.undisturbed(1)
        ranks, of_ranks = runs.undisturbed(4)
        if not wanted or of_ranks != wanted:
            sys.exit("kill_ranks: ranks write other bytes, also without a loss")
        threads = [threading.Thread(target=runs.work, args=(worker, wanted)) for worker in range(options.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(f"One process: {alone:.2f} s. Four ranks, none killed: {ranks:.2f} s.\n")
    print("| ranks | runs | killed in time | same bytes | end, median, s | latest, s |\n|---|---|---|---|---|---|")
    for number in RANKS:
        of_number = [result for result in runs.results if result[0] == number]
        if of_number:
            ends = [result[2] for result in of_number]
            print(f"| {number} | {len(of_number)} | {sum(r[1] for r in of_number)} | {sum(r[3] for r in of_number)} | "
                  f"{statistics.median(ends):.2f} | {max(ends):.2f} |")
    sys.exit(0 if all(result[3] for result in runs.results) else 1)


if __name__ == "__main__":
    main()
