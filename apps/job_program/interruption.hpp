// apps/job_program/interruption.hpp - Ctrl-C as a flag, and the promise that it ends the program.
#pragma once

namespace job_program {

/// From now on SIGINT and SIGTERM are remembered instead of ending the process; within a second it ends in
/// any case, even while it waits for somebody who reads a pipe. The second signal ends it at once, and says
/// so: a GPU kernel that does not answer cannot be stopped.
void watch_for_interruption();

/// While it lives, a signal is only remembered, also one that came before: a program that stores what it has
/// done may take longer than a second. The second signal still ends it at once, unless it comes within 1 s of
/// the first: batch systems and mpirun may both pass the same signal on.
class EndsByItself {
public:
    EndsByItself();
    ~EndsByItself();
    EndsByItself(const EndsByItself&) = delete; // ends once
    EndsByItself& operator=(const EndsByItself&) = delete;
};

/// Another process of this program got this signal, and all end because of it.
void note_interruption(int signal) noexcept;
/// From now on no signal has come: the program ends because of something else, which its exit code tells.
void forget_interruption() noexcept;

/// The signal that came, or 0. Shells expect the exit code 128 + signal.
[[nodiscard]] int interruption() noexcept;

/// Whoever has seen the signal calls this before anything that may take long, be it a driver that compiles, a
/// kernel that hangs or what a runtime takes down at its end: what was printed so far is written, since the
/// process may leave without more words of its own. Call it as often as you like.
void leave_in_time();

} // namespace job_program
