// tests/core/program_test.cpp - random programs of requests give what running them one after another gives,
// whatever the machine and whatever the order in which its devices work.
#include <core/fake_device.hpp>
#include <core/program_search.hpp>
#include <core/sanitizers.hpp>

#include <gtest/gtest.h>

#include <random>

namespace headrace::test {
namespace {

// With a sanitizer each access costs several.
constexpr std::uint64_t usual_programs = under_thread_sanitizer || under_address_sanitizer ? 1'000 : 10'000;

/// One to three devices of random kinds with one to four controllers.
class FakeMachine final : public ProgramMachine {
public:
    explicit FakeMachine(std::uint64_t seed, Bytes memory = Bytes{1} << 30) {
        std::mt19937_64 random(seed);
        const auto one_in = [&](unsigned many) { return random() % many == 0; };
        if (!one_in(4))
            adversary_ = std::make_shared<Adversary>(static_cast<Adversary::Order>(random() % 3), random());
        const std::chrono::microseconds longest_delay{!adversary_ && one_in(2) ? 20 : 0};
        const bool some_have_peers = one_in(2);
        std::vector<Device*> devices;
        for (auto count = 1 + random() % 3; count > 0; --count)
            devices.push_back(&add_device(
                std::make_unique<FakeDevice>(FakeOptions{.id = "fake:" + std::to_string(devices.size()),
                                                         .shares_host_memory = one_in(4),
                                                         .has_peers = some_have_peers && !one_in(4),
                                                         .longest_delay = longest_delay,
                                                         .seed = random(),
                                                         .memory = memory,
                                                         .family = static_cast<unsigned>(random() % 2),
                                                         .adversary = adversary_})));
        // One frees what it holds itself: those that are short of memory share no device.
        const bool is_short = memory < Bytes{1} << 20;
        const auto controllers = std::max<std::size_t>(devices.size(), is_short ? 0 : 1 + random() % 4);
        for (std::size_t i = 0; i < controllers; ++i) {
            Device& device = *devices[i % devices.size()];
            add_controller(device, {.private_copies = one_in(2)});
            own_streams_.push_back(device.make_stream());
        }
        add_lanes(static_cast<unsigned>(1 + random() % 2));
        host_name_ = adversary_ ? adversary_->join() : 0;
    }

    Event kernel(unsigned on, const std::vector<Part>& parts, std::span<const TileUse> uses,
                 Body body) override {
        std::vector<Word*> words;
        for (const Part& part : parts) {
            const auto window = controller(on).window({*part.storage, part.begin, part.end}); // it is there
            words.push_back(static_cast<Word*>(window.memory.address()) +
                            (part.begin - window.begin) / sizeof(Word));
        }
        auto run = [words, body = std::move(body)](const NativeStream&) { body(words); };
        // Some kernels go to a stream of the program's own: only their events order them among the others.
        if (kernels_++ % 3 != 0) return controller(on).launch("kernel", uses, std::move(run));
        return controller(on).submit("kernel", uses, [&](std::span<const Event> after) {
            const std::scoped_lock lock(own_streams_mutex_);
            return own_streams_[on]->launch(std::move(run), after);
        });
    }
    void host_task_begins() override {
        if (adversary_) Adversary::Turn turn(*adversary_, host_name_);
    }
    void hold() override {
        if (adversary_) adversary_->hold();
    }
    void let_go() override {
        if (adversary_) adversary_->let_go();
    }

private:
    std::shared_ptr<Adversary> adversary_; // the devices keep it too
    std::vector<std::unique_ptr<Stream>> own_streams_;
    std::mutex own_streams_mutex_;
    std::atomic<unsigned> kernels_ = 0;
    std::uint64_t host_name_ = 0;
};

Search on_fake_machines(std::uint64_t programs, const Mix& mix = {}) {
    return {.programs = programs, .mix = mix, .machine = [](std::uint64_t seed) {
                return std::make_unique<FakeMachine>(seed);
            }};
}

TEST(Programs, GiveWhatRunningThemOneAfterAnotherGives) {
    const Mix no_faults{.body_faults = false, .copy_faults = false};
    EXPECT_EQ(find_a_failure(on_fake_machines(usual_programs, no_faults)), "");
}

TEST(Programs, WithFailuresReachExactlyTheReadersOfWhatFailed) {
    EXPECT_EQ(find_a_failure(on_fake_machines(usual_programs)), "");
}

TEST(Programs, OfTwoThreadsDoNotDisturbEachOther) {
    Search search = on_fake_machines(usual_programs / 4);
    search.threads = 2;
    EXPECT_EQ(find_a_failure(search), "");
}

/// Three of the largest data fit, as one request may need them, and no more.
constexpr Bytes three_data = Bytes{3} * 32 * sizeof(Word);

std::unique_ptr<ProgramMachine> short_of_memory(std::uint64_t seed) {
    return std::make_unique<FakeMachine>(seed, three_data);
}

TEST(Programs, ThatDoNotFitOnTheirDevicesGiveTheSame) {
    const Mix mix{.steps = 48, .data = 12, .full_devices = true, .copy_faults = false};
    EXPECT_EQ(find_a_failure({.programs = usual_programs / 2, .mix = mix, .machine = short_of_memory}), "");
}

/// Each word has a cache line to itself, so that windows may begin at any.
TEST(Programs, OfWhoseDataDevicesHoldPartsGiveTheSame) {
    static constexpr unsigned stride = 64 / sizeof(Word);
    const Mix mix{.steps = 48, .stride = stride, .full_devices = true, .windows = true, .copy_faults = false};
    const auto machine = [](std::uint64_t seed) {
        return std::make_unique<FakeMachine>(seed, stride * three_data);
    };
    EXPECT_EQ(find_a_failure({.programs = usual_programs / 4, .mix = mix, .machine = machine}), "");
}

// Copies through the host go in pieces when they are large.
TEST(Programs, OnLargeDataGiveTheSame) {
    constexpr unsigned sixteen_to_a_mebibyte = 16'384;
    EXPECT_EQ(find_a_failure(on_fake_machines(usual_programs / 50, {.stride = sixteen_to_a_mebibyte})), "");
}

} // namespace
} // namespace headrace::test
