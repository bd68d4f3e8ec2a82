// tests/core/coherence_test.cpp - random programs on one to three controllers: what kernels read, and what is
// moved.
#include <headrace/core/controller.hpp>
#include <headrace/core/log.hpp>

#include <core/fake_device.hpp>
#include <core/seeds.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace headrace {
namespace {

using test::FakeDevice;
using test::FakeOptions;

using Word = std::uint32_t;
constexpr std::size_t words_per_storage = 48;

struct Machine {
    std::deque<FakeDevice> devices;
    std::deque<Controller> controllers; // after the devices, which outlive them
    std::deque<HostLane> lanes{2};

    /// How many, whether the last one works on host memory, whether they reach each other.
    Machine(unsigned count, bool zero_copy, bool peers, std::chrono::microseconds longest_delay,
            std::uint64_t seed) {
        for (unsigned i = 0; i < count; ++i) {
            devices.emplace_back(FakeOptions{.id = "fake:" + std::to_string(i),
                                             .shares_host_memory = zero_copy && i + 1 == count,
                                             .has_peers = peers,
                                             .longest_delay = longest_delay,
                                             .seed = seed + 100 * i});
            controllers.emplace_back(devices.back());
        }
    }
};

/// Gives one machine of each shape.
template <class Body>
void on_every_machine(std::chrono::microseconds longest_delay, Body body) {
    const std::uint64_t seed = test::fresh_seed();
    for (unsigned shape = 0; shape < 12; ++shape) {
        const unsigned count = 1 + shape % 3;
        const bool zero_copy = (shape / 3) % 2 == 1, peers = shape >= 6;
        SCOPED_TRACE(std::to_string(count) + " controllers" + (zero_copy ? ", zero copy" : "") +
                     (peers ? ", peers" : ""));
        Machine machine(count, zero_copy, peers, longest_delay, seed);
        std::mt19937_64 random(seed + shape);
        body(machine, random);
        if (::testing::Test::HasFailure()) return;
    }
}

/// A datum together with what every word of it must hold at this point of the program.
struct Datum {
    explicit Datum(std::string name) : storage(std::move(name), words_per_storage * sizeof(Word)) {
        auto* words = static_cast<Word*>(storage.host());
        std::fill_n(words, words_per_storage, Word{0});
        host_wrote(storage.tile());
        expected.resize(words_per_storage, 0);
    }
    Storage storage;
    std::vector<Word> expected;
};

struct Part {
    Datum* datum;
    std::size_t begin, end;
    Access access;
};

/// Checks what program order says that it must read, then writes `value`.
void touch(Word* words, const Part& part, const std::vector<Word>& expected, Word value,
           std::atomic<int>& wrong) {
    for (std::size_t i = part.begin; i < part.end; ++i) {
        if (reads(part.access) && words[i] != expected[i - part.begin]) ++wrong;
        if (writes(part.access)) words[i] = value + static_cast<Word>(i);
    }
}

class Program {
public:
    Program(Machine& machine, std::mt19937_64& random) : machine_(machine), random_(random) {
        for (int i = 0; i < 3; ++i) data_.emplace_back("datum " + std::to_string(i));
    }

    void step(Word number) {
        std::vector<Part> parts;
        std::vector<TileUse> uses;
        for (Datum& datum : data_) {
            if (random_() % 2 == 0) continue;
            // Cuts at multiples of eight words, so that tiles split but not without end.
            const std::size_t begin = random_() % 6, end = begin + 1 + random_() % (6 - begin);
            parts.push_back({&datum, begin * 8, end * 8, static_cast<Access>(random_() % 3)});
            uses.push_back(
                {datum.storage.tile(begin * 8 * sizeof(Word), end * 8 * sizeof(Word)), parts.back().access});
        }
        std::vector<std::vector<Word>> expected;
        for (const Part& part : parts) {
            auto& words = part.datum->expected;
            expected.emplace_back(words.begin() + part.begin, words.begin() + part.end);
            if (writes(part.access))
                for (std::size_t i = part.begin; i < part.end; ++i)
                    words[i] = number * 1000 + static_cast<Word>(i);
        }
        submit(std::move(parts), std::move(expected), uses, number * 1000);
    }

    void finish() {
        for (Datum& datum : data_) {
            gather(datum.storage.tile()).wait();
            headrace::wait(datum.storage.tile()); // for host tasks that only read
            const auto* words = static_cast<const Word*>(datum.storage.host());
            EXPECT_TRUE(std::equal(datum.expected.begin(), datum.expected.end(), words))
                << datum.storage.name();
        }
        for (Controller& controller : machine_.controllers) controller.wait_all();
        EXPECT_EQ(wrong_, 0) << "words were read that are not those of program order";
    }

private:
    void submit(std::vector<Part> parts, std::vector<std::vector<Word>> expected,
                const std::vector<TileUse>& uses, Word value) {
        const auto on = random_() % (machine_.controllers.size() + 1);
        std::vector<Word*> replicas;
        for (const Part& part : parts)
            replicas.push_back(
                static_cast<Word*>(on == machine_.controllers.size()
                                       ? part.datum->storage.host()
                                       : machine_.controllers[on].memory(part.datum->storage).address()));
        auto body = [this, parts = std::move(parts), expected = std::move(expected), replicas, value] {
            for (std::size_t i = 0; i < parts.size(); ++i)
                touch(replicas[i], parts[i], expected[i], value, wrong_);
        };
        if (on == machine_.controllers.size()) {
            machine_.lanes[random_() % 2].run("host task", uses, body);
            return;
        }
        Controller& controller = machine_.controllers[on];
        for (const TileUse& use : uses) // a hint changes nothing
            if (random_() % 4 == 0) controller.prefetch(use.tile);
        controller.launch("kernel", uses, [body](const NativeStream&) { body(); });
    }

    Machine& machine_;
    std::mt19937_64& random_;
    std::deque<Datum> data_;
    std::atomic<int> wrong_ = 0;
};

TEST(Coherence, KernelsAndHostTasksReadWhatProgramOrderImplies) {
    on_every_machine(std::chrono::microseconds(60), [](Machine& machine, std::mt19937_64& random) {
        Program program(machine, random);
        for (Word number = 1; number <= 300; ++number) program.step(number);
        program.finish();
    });
}

/// The rules of the specification for one tile, written down as sets of names.
struct Model {
    std::set<std::string> current{"host"};
    unsigned in = 0, out = 0, peer = 0;

    void take(const std::string& replica, bool peers) {
        if (current.contains(replica) || current.empty()) return;
        const bool device_has_it =
            std::ranges::any_of(current, [](const auto& name) { return name != "host"; });
        if (replica != "host" && peers && device_has_it) {
            ++peer;
        } else {
            if (!current.contains("host")) ++out;
            current.insert("host");
            if (replica != "host") ++in;
        }
        current.insert(replica);
    }
    void request(const std::string& replica, Access access, bool peers) {
        if (access != Access::write) take(replica, peers);
        if (access != Access::read) current = {replica};
    }
};

TEST(Coherence, NothingMovesThatTheRulesDoNotAskFor) {
    on_every_machine(std::chrono::microseconds(0), [](Machine& machine, std::mt19937_64& random) {
        Storage storage("x", 64);
        static_cast<void>(storage.host());
        const Tile tile = storage.tile();
        host_wrote(tile);
        Model model;
        const auto moved = [&] {
            Bytes in = 0, out = 0, peer = 0;
            for (const FakeDevice& device : machine.devices) {
                in += device.bytes_in();
                out += device.bytes_out();
                peer += device.bytes_peer();
            }
            return std::vector<Bytes>{in, out, peer};
        };
        for (int step = 0; step < 200; ++step) {
            const auto on = random() % (machine.controllers.size() + 1);
            const auto access = static_cast<Access>(random() % 3);
            const TileUse use{tile, access};
            if (on == machine.controllers.size()) {
                machine.lanes[0].run("host task", {&use, 1}, [] {}).wait();
                model.request("host", access, false);
            } else {
                Controller& controller = machine.controllers[on];
                controller.launch("kernel", {&use, 1}, [](const NativeStream&) {}).wait();
                model.request(controller.is_zero_copy() ? "host" : std::to_string(on), access,
                              machine.devices[on].options().has_peers);
            }
            ASSERT_EQ(moved(), (std::vector<Bytes>{64 * model.in, 64 * model.out, 64 * model.peer}))
                << "step " << step;
        }
    });
}

// Several threads, each with data of its own and one datum that all read and sometimes add to.
TEST(Coherence, SeveralThreadsUseSeveralControllersOnTheSameData) {
    on_every_machine(std::chrono::microseconds(20), [](Machine& machine, std::mt19937_64& random) {
        Storage shared("shared", sizeof(std::uint64_t));
        *static_cast<std::uint64_t*>(shared.host()) = 0;
        const Tile sum = shared.tile();
        host_wrote(sum);
        constexpr std::uint64_t threads = 4, steps = 100;
        const std::uint64_t seed = random();
        const auto work = [&](std::uint64_t thread) {
            std::mt19937_64 own_random(seed + thread);
            Storage own("own", sizeof(std::uint64_t));
            *static_cast<std::uint64_t*>(own.host()) = 0;
            const Tile count = own.tile();
            host_wrote(count);
            for (std::uint64_t step = 0; step < steps; ++step) {
                Controller& controller = machine.controllers[own_random() % machine.controllers.size()];
                const TileUse uses[] = {{count, Access::update}, {sum, Access::update}};
                auto* counted = static_cast<std::uint64_t*>(controller.memory(own).address());
                auto* summed = static_cast<std::uint64_t*>(controller.memory(shared).address());
                controller.launch("count", uses, [=](const NativeStream&) {
                    ++*counted;
                    ++*summed;
                });
                if (own_random() % 8 == 0) {
                    const TileUse look{count, Access::read};
                    controller.host_task({&look, 1}, [&, step] {
                        EXPECT_EQ(*static_cast<std::uint64_t*>(own.host()), step + 1);
                    });
                }
            }
            gather(count).wait();
            EXPECT_EQ(*static_cast<std::uint64_t*>(own.host()), steps);
            headrace::wait(count);
        };
        {
            std::vector<std::jthread> pool;
            for (std::uint64_t thread = 0; thread < threads; ++thread) pool.emplace_back(work, thread);
        }
        gather(sum).wait();
        EXPECT_EQ(*static_cast<std::uint64_t*>(shared.host()), threads * steps);
    });
}

TEST(Coherence, AHundredThousandRequestsInFlight) {
    Machine machine(2, false, true, std::chrono::microseconds(0), 1);
    Storage storage("x", sizeof(std::uint64_t));
    *static_cast<std::uint64_t*>(storage.host()) = 0;
    const Tile tile = storage.tile();
    host_wrote(tile);
    std::uint64_t writes_done = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        Controller& controller = machine.controllers[i / 1000 % 2];
        const bool is_write = i % 10 == 0;
        const TileUse use{tile, is_write ? Access::update : Access::read};
        auto* word = static_cast<std::uint64_t*>(controller.memory(storage).address());
        controller.launch("kernel", {&use, 1}, [=](const NativeStream&) {
            if (is_write) ++*word;
        });
        writes_done += is_write ? 1 : 0;
    }
    gather(tile).wait();
    EXPECT_EQ(*static_cast<std::uint64_t*>(storage.host()), writes_done);
}

} // namespace
} // namespace headrace
