// tests/end_to_end/slow_mpi.cpp - a slow network for programs under mpirun: to be preloaded.
//
// A message that has come is shown to the program HEADRACE_TEST_MESSAGE_DELAY milliseconds later. Messages
// overtake none, and any number of them is on the way at a time. By the profiling interface of MPI: it
// stands in for the one call by which mpi_transport.cpp gets to know of messages.
//
// One thread, one communicator.
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <deque>

namespace {

using Clock = std::chrono::steady_clock;

struct Late {
    MPI_Message message;
    MPI_Status status;
    Clock::time_point due;
};

std::chrono::milliseconds delay() {
    const char* const text = std::getenv("HEADRACE_TEST_MESSAGE_DELAY");
    return std::chrono::milliseconds(text == nullptr ? 0 : std::atol(text));
}

} // namespace

extern "C" int MPI_Improbe(int source, int tag, MPI_Comm communicator, int* flag, MPI_Message* message,
                           MPI_Status* status) {
    static const std::chrono::milliseconds each = delay();
    static std::deque<Late> on_the_way;
    Late last{};
    int has_come = 0;
    const int code = PMPI_Improbe(source, tag, communicator, &has_come, &last.message, &last.status);
    if (code != MPI_SUCCESS) return code;
    const Clock::time_point now = Clock::now();
    if (has_come != 0) {
        last.due = now + each;
        on_the_way.push_back(last);
    }
    *flag = !on_the_way.empty() && on_the_way.front().due <= now ? 1 : 0;
    if (*flag == 0) return code;
    *message = on_the_way.front().message;
    *status = on_the_way.front().status;
    on_the_way.pop_front();
    return code;
}
