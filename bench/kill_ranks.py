#!/usr/bin/env python3
"""Loses ranks of headrace-fluorescence at random times, and compares what the others write with a run of one process.

    bench/kill_ranks.py build/release/bin sample.mci --photons 1600000 --losses 200 --cores 4 --workers 7
    bench/kill_ranks.py build/release/bin sample.mci --photons 1600000 --losses 200 --cut-links

One rank other than rank 0 is lost in each run, at most two seconds after the first checkpoint: it is killed, or with --cut-links
its network link is cut. Then each rank has a network namespace of its own, which needs the rights of root and ip of iproute2.
It needs mpirun of Open MPI 4, Linux, and as many cores as workers x cores. Exit code 1 if a run has written other bytes, or if a
rank is still there 30 s after rank 0 has ended.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

RANKS = (2, 3, 4, 7)


def grids(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.glob("g.*"))}


def processes_of(mark, rank=None):
    """The process ids of a rank, or of all, which have not ended."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            if (entry / "comm").read_text().startswith("headrace-fluor") and mark in environment \
                    and (rank is None or f"OMPI_COMM_WORLD_RANK={rank}".encode() in environment):
                found.append(int(entry.name))
        except OSError:  # it has ended meanwhile
            pass
    return found


class Runs:
    """Ranks that are killed."""

    def __init__(self, options, folder):
        self.options, self.folder, self.lock = options, folder, threading.Lock()
        self.left, self.results = options.losses, []
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", HEADRACE_CALIBRATIONS="")

    def open(self):
        pass

    def close(self):
        pass

    def command(self, folder, *more):
        return [str(self.options.programs.resolve() / "headrace-fluorescence"), "--input", str(self.options.input.resolve()), "--photons",
                str(self.options.photons), "--devices", "cpu", "--quiet", "--grids", str(folder / "g"), *more]

    def on_cores(self, worker):
        first = worker * self.options.cores
        return ["taskset", "-c", f"{first}-{first + self.options.cores - 1}"]

    def mpirun(self, worker, ranks, *more):
        return ["timeout", "-k", "5", "120", "mpirun", "--mca", "orte_enable_recovery", "1", "--oversubscribe", "--bind-to", "none",
                *more, "-n", str(ranks)]

    def lose(self, worker, mark, rank):
        """False: the rank has ended before."""
        processes = processes_of(mark, rank)
        for process in processes:
            os.kill(process, signal.SIGKILL)
        return bool(processes)

    def wait_for_end(self, run, mark):
        run.wait()

    def restore(self, worker):
        pass

    def clean_up(self, worker):
        pass

    def start(self, worker, ranks, folder, *more):
        """Runs the program on so many ranks. Returns its process and the mark of its environment. mpirun does not always start all ranks
        in networks of their own: then once more."""
        launcher = self.mpirun(worker, ranks, "-x", "KILL_RANKS") if ranks > 1 else []
        for _ in range(10):
            number = random.randrange(1 << 60)
            run = subprocess.Popen(self.on_cores(worker) + launcher + self.command(folder, *more), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=dict(self.environment, KILL_RANKS=str(number)))
            mark = f"KILL_RANKS={number}".encode()
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline and run.poll() is None and len(processes_of(mark)) < ranks:
                time.sleep(0.005)
            if run.poll() is not None or len(processes_of(mark)) == ranks:
                return run, mark
            self.clean_up(worker)
            run.kill()
            run.wait()
        sys.exit("kill_ranks: mpirun starts no ranks")

    def undisturbed(self, ranks):
        """Seconds, and what it writes."""
        folder = self.folder / "undisturbed"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        more = ["--on-loss", "continue"] if ranks > 1 else []
        begin = time.monotonic()
        run, _ = self.start(0, ranks, folder, *more)
        if run.wait() != 0:
            sys.exit(f"kill_ranks: the program fails on {ranks} ranks, also without a loss")
        return time.monotonic() - begin, grids(folder)

    def lose_one(self, worker, wanted):
        ranks = random.choice(RANKS)
        folder = self.folder / f"worker{worker}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        checkpoint = folder / "c"
        run, mark = self.start(worker, ranks, folder, "--on-loss", "continue", "--checkpoint", str(checkpoint), "--checkpoint-every", "0.5")
        begin = time.monotonic()
        while not checkpoint.exists() and run.poll() is None:
            time.sleep(0.005)
        time.sleep(random.uniform(0, 2))
        was_lost = self.lose(worker, mark, random.randrange(1, ranks))
        self.wait_for_end(run, mark)
        end = time.monotonic()
        all_ended = self.have_ended(worker, mark)
        run.wait()
        self.restore(worker)
        with self.lock:
            self.results.append((ranks, was_lost, end - begin, grids(folder) == wanted and all_ended))

    def have_ended(self, worker, mark):
        """The others end a while after rank 0. What does not is killed."""
        for _ in range(300):
            if not processes_of(mark):
                return True
            time.sleep(0.1)
        for process in processes_of(mark):
            os.kill(process, signal.SIGKILL)
        return False

    def work(self, worker, wanted):
        while True:
            with self.lock:
                if self.left == 0:
                    return
                self.left -= 1
            self.lose_one(worker, wanted)


class CutLinks(Runs):
    """Each rank has a network of its own, and a link to the bridge of its run."""

    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.agent = folder / "agent"  # of mpirun, in place of ssh
        self.agent.write_text('#!/bin/sh\nhost=$1\nshift\nexec ip netns exec "headrace-${host#10.77.}" sh -c "$*"\n')
        self.agent.chmod(0o755)

    def open(self):
        for worker in range(self.options.workers):
            self.ip("link", "add", f"headrace{worker}", "type", "bridge")
            self.ip("link", "set", f"headrace{worker}", "up")
            for rank in range(max(RANKS)):
                network, link = f"headrace-{worker}.{rank + 1}", f"hr{worker}-{rank}"
                self.ip("netns", "add", network)
                self.ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", network)
                self.ip("link", "set", link, "master", f"headrace{worker}", "up")
                for what in (("addr", "add", f"10.77.{worker}.{rank + 1}/24", "dev", "eth0"), ("link", "set", "eth0", "up"), ("link", "set", "lo", "up")):
                    self.ip("-n", network, *what)

    @staticmethod
    def ip(*arguments):
        subprocess.run(["ip", *arguments], check=True)

    def close(self):
        def remove(*what):
            subprocess.run(["ip", *what], check=False, stderr=subprocess.DEVNULL)  # it need not be there

        for worker in range(self.options.workers):
            for rank in range(max(RANKS)):
                remove("link", "del", f"hr{worker}-{rank}")
                remove("netns", "del", f"headrace-{worker}.{rank + 1}")
            remove("link", "del", f"headrace{worker}")

    def mpirun(self, worker, ranks, *more):
        network = f"10.77.{worker}.0/24"
        hosts = ",".join(f"10.77.{worker}.{rank + 1}" for rank in range(ranks))
        return ["ip", "netns", "exec", f"headrace-{worker}.1"] + super().mpirun(
            worker, ranks, "--mca", "plm_rsh_agent", str(self.agent), "--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "orte_keep_fqdn_hostnames", "1",
            "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", network, "--mca", "oob_tcp_if_include", network, "--host", hosts, *more)

    def lose(self, worker, mark, rank):
        was_there = bool(processes_of(mark, rank))
        self.ip("link", "set", f"hr{worker}-{rank}", "down")
        return was_there

    def wait_for_end(self, run, mark):
        while processes_of(mark, 0) and run.poll() is None:
            time.sleep(0.02)

    def have_ended(self, worker, mark):
        all_ended = super().have_ended(worker, mark)
        self.clean_up(worker)  # mpirun hangs after a cut link
        return all_ended

    def clean_up(self, worker):
        subprocess.run(["pkill", "-KILL", "-f", f"(mpirun|orted).*10[.]77[.]{worker}[.]"], check=False)

    def restore(self, worker):
        for rank in range(max(RANKS)):
            self.ip("link", "set", f"hr{worker}-{rank}", "up")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="folder of headrace-fluorescence")
    parser.add_argument("input", type=pathlib.Path, help="its input")
    parser.add_argument("--photons", type=int, default=1_600_000)
    parser.add_argument("--losses", type=int, default=200)
    parser.add_argument("--cut-links", action="store_true", help="of ranks, instead of killing them")
    parser.add_argument("--cores", type=int, default=4, help="of one run")
    parser.add_argument("--workers", type=int, default=1, help="runs at a time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = (CutLinks if options.cut_links else Runs)(options, pathlib.Path(folder))
        try:
            runs.open()
            alone, wanted = runs.undisturbed(1)
            ranks, of_ranks = runs.undisturbed(4)
            if not wanted or of_ranks != wanted:
                sys.exit("kill_ranks: ranks write other bytes, also without a loss")
            threads = [threading.Thread(target=runs.work, args=(worker, wanted)) for worker in range(options.workers)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            runs.close()
    print(f"One process: {alone:.2f} s. Four ranks, none lost: {ranks:.2f} s.\n")
    print("| ranks | runs | lost in time | same bytes | end, median, s | latest, s |\n|---|---|---|---|---|---|")
    for number in RANKS:
        of_number = [result for result in runs.results if result[0] == number]
        if of_number:
            ends = [result[2] for result in of_number]
            print(f"| {number} | {len(of_number)} | {sum(r[1] for r in of_number)} | {sum(r[3] for r in of_number)} | "
                  f"{statistics.median(ends):.2f} | {max(ends):.2f} |")
    sys.exit(0 if all(result[3] for result in runs.results) else 1)


if __name__ == "__main__":
    main()
