// tests/persistent/meeting_walks.hpp - heavy units that walk until as many walk as there are units: each has
// to reach a group of its own.
#pragma once
#include "exactly_once.hpp"

#include <core/takes.hpp>

#include <atomic>
#include <chrono>

namespace headrace::test {

/// All but the walk of a kernel that spawns `units` units below each seed.
struct MeetingWalks {
    struct Meeting {
        std::atomic<std::uint64_t> walking = 0, missed = 0;
        std::chrono::steady_clock::time_point end =
            std::chrono::steady_clock::now() + std::chrono::minutes(1);
    };
    Arrivals arrivals;
    Meeting* meeting;
    std::uint64_t units;

    void begin_at(const Node& node) const {
        if (node.heap > 1) ++meeting->walking;
    }
    [[nodiscard]] Phase next_of(std::uint64_t heap) const {
        if (heap == 1 || meeting->walking == units) return Phase::done;
        takes(std::chrono::microseconds(100));
        if (std::chrono::steady_clock::now() < meeting->end) return Phase{0};
        ++meeting->missed;
        return Phase::done;
    }
    void arrive(auto& lane, const Node& node) const {
        arrivals.arrive(node.id());
        if (node.heap == 1)
            for (std::uint64_t child = 0; child < units; ++child) lane.spawn(Node{node.seed, 2 + child});
    }
};

/// One unit for each group, or fewer: a group that walks keeps no other unit, wherever it has them.
template <class Kernel, unsigned Groups>
void expect_that_all_groups_walk(std::uint64_t units = Groups) {
    const TestDeadline deadline("the engine");
    MeetingWalks::Meeting meeting;
    ArrivalTable arrived;
    const Kernel kernel{{arrived.view(), &meeting, units}};
    ThreadDevice device;
    ThreadStream stream;
    const Roots seeds;
    const Launcher launcher =
        on_cpu::make_launcher<Kernel, Roots, HostLanes<16>, ThreadRunner<Groups>, SlowClock>();
    Engine engine(device, stream, launcher.bind(&kernel, sizeof kernel, &seeds, sizeof seeds),
                  {.wishes = {}, .first_rounds = 1u << 30});
    drain(engine, 0, 1);
    EXPECT_EQ(arrived.total(), 1 + units);
    EXPECT_EQ(meeting.missed, 0u);
}

} // namespace headrace::test
