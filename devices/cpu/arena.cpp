// devices/cpu/arena.cpp - see arena.hpp.
#include <headrace/devices/cpu/arena.hpp>
#include <headrace/internal/devices/cpu/arena_tbb.hpp>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <sched.h>

namespace headrace {
namespace {

int thread_count(std::span<const Core> cores) {
    std::size_t threads = 0;
    for (const Core& core : cores) threads += core.size();
    return static_cast<int>(std::max<std::size_t>(threads, 1));
}

/// Keeps threads on the given processors while they work in the arena, because oneTBB's threads change
/// arenas.
class Pin final : public tbb::task_scheduler_observer {
public:
    Pin(tbb::task_arena& arena, std::span<const Core> cores) : tbb::task_scheduler_observer(arena) {
        CPU_ZERO(&processors_);
        for (const Core& core : cores)
            for (const unsigned processor : core)
                if (processor < CPU_SETSIZE) CPU_SET(processor, &processors_);
        observe(true);
    }
    ~Pin() override { observe(false); }
    Pin(const Pin&) = delete; // the scheduler holds its address
    Pin& operator=(const Pin&) = delete;

    void on_scheduler_entry(bool) override {
        // A failure to pin costs only speed, not correctness, so the status is ignored.
        sched_getaffinity(0, sizeof(cpu_set_t), &before());
        sched_setaffinity(0, sizeof(cpu_set_t), &processors_);
    }
    void on_scheduler_exit(bool) override { sched_setaffinity(0, sizeof(cpu_set_t), &before()); }

private:
    static cpu_set_t& before() {
        thread_local cpu_set_t set;
        return set;
    }
    cpu_set_t processors_;
};

} // namespace

struct CpuArena::Impl {
    Impl(std::span<const Core> cores, bool pin) : arena(thread_count(cores)) {
        if (pin) pinned = std::make_unique<Pin>(arena, cores);
    }
    tbb::task_arena arena;
    std::unique_ptr<Pin> pinned;
};

CpuArena::CpuArena(std::span<const Core> cores, bool pin) : impl_(std::make_unique<Impl>(cores, pin)) {}
CpuArena::~CpuArena() = default;

unsigned CpuArena::threads() const noexcept { return static_cast<unsigned>(impl_->arena.max_concurrency()); }

void CpuArena::run(unsigned n, const std::function<void(unsigned)>& body) {
    impl_->arena.execute([&] {
        // Isolated: a thread that waits for its last body does not start a body of another, longer run at
        // that time.
        tbb::this_task_arena::isolate([&] {
            tbb::parallel_for(
                tbb::blocked_range<unsigned>(0, n, 1),
                [&](const tbb::blocked_range<unsigned>& range) {
                    for (unsigned i = range.begin(); i < range.end(); ++i) body(i);
                },
                tbb::simple_partitioner{});
        });
    });
}

tbb::task_arena& tbb_arena(CpuArena& arena) noexcept { return arena.impl().arena; }

} // namespace headrace
