// tests/core/growth_test.cpp - however many requests there were, what remains of them is bounded.
//
// HEADRACE_TEST_REQUESTS=1000000 asks for more of them than usual.
#include <headrace/core/controller.hpp>

#include <core/environment.hpp>
#include <core/fake_device.hpp>
#include <core/heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace headrace {
namespace {

using test::FakeDevice;
using test::FakeEvent;
using test::FakeOptions;
using test::heap_in_use;
using test::heap_is_measured;

unsigned long requests() { return test::from_environment("HEADRACE_TEST_REQUESTS", 100'000); }

/// Two devices that copy to each other through the host, one that works in place, and requests of every kind
/// on two data, one of them in parts.
class GrowthTest : public ::testing::Test {
protected:
    /// Kernels, host tasks, and between them the copies that they make necessary.
    void submit(unsigned long count) {
        host_wrote(whole_.tile());
        const Tile part = divided_.tile(0, 32);
        for (unsigned long i = 0; i < count; ++i) {
            Controller& on = i % 7 == 0 ? in_place_ : i % 5 == 0 ? second_ : first_;
            const TileUse uses[] = {{whole_.tile(), i % 3 == 0 ? Access::update : Access::read},
                                    {part, i % 4 == 0 ? Access::write : Access::read}};
            const auto held = std::make_shared<unsigned long>(i); // a body's own memory goes as well
            if (i % 11 == 0)
                on.host_task(uses, [held] {});
            else
                on.launch("kernel", uses, [held](const NativeStream&) {});
            if (i % 13 == 0) static_cast<void>(gather(part));
            if (i % 17 == 0) on.prefetch(part);
            if (i % 250 == 0) on.release(whole_); // what was there is lost, and allocated anew
        }
    }
    void wait_all() {
        for (Controller* controller : {&first_, &second_, &in_place_}) controller->wait_all();
        end();
    }
    void end() {
        for (Storage* storage : {&whole_, &divided_}) headrace::wait(storage->tile());
    }

    FakeDevice devices_[3]{FakeDevice{FakeOptions{.id = "fake:0"}}, FakeDevice{FakeOptions{.id = "fake:1"}},
                           FakeDevice{FakeOptions{.id = "cpu", .shares_host_memory = true}}};
    Controller first_{devices_[0]}, second_{devices_[1]}, in_place_{devices_[2]};
    std::vector<std::byte> bytes_ = std::vector<std::byte>(128);
    Storage whole_{"whole", 64, bytes_.data()}, divided_{"divided", 64, bytes_.data() + 64};
};

TEST_F(GrowthTest, NothingRemainsOfRequestsThatHaveEnded) {
    constexpr unsigned long in_a_round = 500;
    std::size_t heap_at_first = 0, most_events = 0;
    for (unsigned long done = 0; done < requests(); done += in_a_round) {
        submit(in_a_round);
        end();
        most_events = std::max(most_events, FakeEvent::alive());
        if (done != 20 * in_a_round) continue;
        wait_all(); // now and in the end only
        heap_at_first = heap_in_use();
    }
    // Each controller keeps events for wait_all, twice as many as there were under way at once.
    EXPECT_LE(most_events, 3 * 2 * in_a_round);
    wait_all();
    if (heap_is_measured) {
        // What threads keep of freed blocks counts as in use; three bytes a request would be found.
        EXPECT_LE(heap_in_use(), heap_at_first + (1U << 18U));
    }
    EXPECT_LE(FakeEvent::alive(), 64U);
}

TEST_F(GrowthTest, NothingRemainsOfWhatFailed) {
    for (unsigned long i = 0; i < requests() / 20; ++i) {
        const TileUse uses[] = {{divided_.tile(), i % 10 == 0 ? Access::write : Access::update}};
        Controller& on = i % 3 == 0 ? second_ : first_;
        on.launch("kernel", uses, [i](const NativeStream&) {
            if (i % 10 == 5) throw Error{ErrorKind::kernel, "every tenth"};
        });
    }
    EXPECT_THROW(first_.wait_all(), Error);
    EXPECT_THROW(second_.wait_all(), Error);
    EXPECT_LE(FakeEvent::alive(), 64U);
}

} // namespace
} // namespace headrace
