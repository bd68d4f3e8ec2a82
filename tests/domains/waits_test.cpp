// tests/domains/waits_test.cpp - waits that would never end, in tasks, hooks and functions of `then`.
#include <domains/job.kernels.hpp>
#include <domains/job_order.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

class Waiting : public JobOrder {
protected:
    /// Runs in a task of a job that writes `x_`; returns what it threw.
    std::string thrown_in_task(const std::function<void()>& work) {
        std::string thrown;
        const JobHandle handle = runtime_->submit(with(std::move(Job("outer", 1).updates(x_)), [&](Task&) {
            try {
                work();
            } catch (const Error& error) {
                thrown = error.what();
            }
        }));
        EXPECT_TRUE(handle.wait_for(100s)) << "it waits for ever";
        return thrown;
    }
    const Numbers x_ = [] {
        Numbers x("x", {64});
        std::ranges::fill(x.fill(), 1U);
        return x;
    }();
    static constexpr const char* of_its_own = "waits inside a task of its own job";
};

TEST_F(Waiting, ForAJobThatComesAfterItsOwnIsAnError) {
    const std::string thrown = thrown_in_task(
        [&] { runtime_->submit(with(std::move(Job("inner", 1).reads(x_)), [](Task&) {})).wait(); });
    EXPECT_NE(thrown.find(of_its_own), std::string::npos) << thrown;
    EXPECT_NE(thrown.find("'inner'"), std::string::npos) << thrown;
    EXPECT_NE(thrown.find("'outer'"), std::string::npos) << thrown;
    const std::string limited = thrown_in_task([&] {
        static_cast<void>(
            runtime_->submit(with(std::move(Job("inner", 1).reads(x_)), [](Task&) {})).wait_for(1h));
    });
    EXPECT_NE(limited.find(of_its_own), std::string::npos) << limited;
}

/// The event of a job is waited for like its handle.
TEST_F(Waiting, ForTheEventOfAJobThatComesAfterItsOwnIsAnError) {
    const auto after_outer = [&] {
        return runtime_->submit(with(std::move(Job("inner", 1).reads(x_)), [](Task&) {})).event();
    };
    const std::vector<std::function<void()>> waits{
        [&] { after_outer().wait(); },
        [&] { static_cast<void>(after_outer().outcome()); },
        [&] { static_cast<void>(after_outer().wait_for(1h)); },
    };
    for (const auto& wait : waits) {
        const std::string thrown = thrown_in_task(wait);
        EXPECT_NE(thrown.find(of_its_own), std::string::npos) << thrown;
        EXPECT_NE(thrown.find("'inner'"), std::string::npos) << thrown;
    }
    const auto inner = [&] { return runtime_->submit(with(Job("inner", 1), [](Task&) {})).event(); };
    EXPECT_EQ(thrown_in_task([&] { inner().wait(); }), "");
    EXPECT_EQ(thrown_in_task([&] { EXPECT_TRUE(inner().wait_for(100s)); }), "");
}

TEST_F(Waiting, ForEventsOutsideOfTasksWorks) {
    const JobHandle good = runtime_->submit(with(Job("good", 1), held([](Task&) {})));
    const JobHandle bad = runtime_->submit(throws(Job("bad", 1).after(good)));
    const Event done = good.event(), failed = bad.event(), both = Event::all(std::array{done, failed});
    EXPECT_FALSE(done.done() || failed.wait_for(1ms) || both.done());
    may_go_on_.raise();
    done.wait();
    EXPECT_TRUE(failed.wait_for(100s));
    EXPECT_TRUE(failed.outcome());
    EXPECT_TRUE(both.outcome());
}

TEST_F(Waiting, ForDataThatItsOwnJobWritesIsAnError) {
    for (const bool fills : {false, true}) {
        const std::string thrown = thrown_in_task([&] {
            if (fills)
                static_cast<void>(x_.fill());
            else
                static_cast<void>(x_.gather());
        });
        EXPECT_NE(thrown.find(of_its_own), std::string::npos) << thrown;
        EXPECT_NE(thrown.find("'x'"), std::string::npos) << thrown;
    }
}

/// Every task of the outer job waits for one of its own making, three levels deep: there are more that wait
/// than the devices have places.
TEST_F(Waiting, ForOtherJobsWorks) {
    std::atomic<int> leaves = 0;
    std::function<Job(int)> nested = [&](int depth) {
        return with(Job("level " + std::to_string(depth), 12), [&, depth](Task& task) {
            for (auto i = task.range().begin; i < task.range().end; ++i)
                if (depth == 0)
                    ++leaves;
                else if (i % 4 == 0)
                    runtime_->submit(nested(depth - 1)).wait();
        });
    };
    const JobHandle outer = runtime_->submit(nested(3));
    ASSERT_TRUE(outer.wait_for(60s)) << "it waits for ever";
    outer.wait();
    EXPECT_EQ(leaves, 3 * 3 * 3 * 12);
}

TEST_F(Waiting, ForEachOtherIsAnError) {
    std::atomic<const JobHandle*> first = nullptr, second = nullptr;
    std::atomic<int> errors = 0;
    const auto waits_for = [&](std::atomic<const JobHandle*>& other) {
        return [&](Task&) {
            other.wait(nullptr);
            try {
                other.load()->wait();
            } catch (const Error& error) {
                if (std::string(error.what()).find(of_its_own) != std::string::npos) ++errors;
            }
        };
    };
    const JobHandle one = runtime_->submit(with(Job("one", 1), waits_for(second)));
    const JobHandle two = runtime_->submit(with(Job("two", 1), waits_for(first)));
    first = &one;
    first.notify_all();
    second = &two;
    second.notify_all();
    ASSERT_TRUE(one.wait_for(100s) && two.wait_for(100s)) << "they wait for ever";
    EXPECT_EQ(errors, 1);
}

TEST_F(Waiting, InHooksAndPoliciesIsAnError) {
    struct Waits final : Policy {
        explicit Waits(std::function<void()> wait) : wait_(std::move(wait)) {}
        std::uint64_t next(std::size_t, const Progress&) override {
            wait_();
            return 1;
        }
        std::function<void()> wait_;
    };
    const auto wait = [&] { runtime_->submit(with(Job("inner", 1), held([](Task&) {}))).wait(); };
    const auto waits = [&](const TaskStatistics&) { wait(); };
    const auto nothing = [](const TaskStatistics&) {};
    std::vector<Job> jobs(3, with(Job("outer", 1), [](Task&) {}));
    jobs[0].on_tasks(waits, nothing);
    jobs[1].on_tasks(nothing, waits);
    jobs[2].policy([&] { return std::make_unique<Waits>(wait); }, "waits");
    for (const Job& job : jobs) {
        const JobHandle handle = runtime_->submit(job);
        ASSERT_TRUE(handle.wait_for(100s)) << "it waits for ever";
        try {
            handle.wait();
            ADD_FAILURE() << "nothing was said";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("cannot "), std::string::npos) << error.what();
        }
        may_go_on_.raise();
        runtime_ = fake_runtime(2); // the inner jobs have ended
        may_go_on_.lower();
    }
}

/// Also for a task that is given to a launch that runs.
TEST(WaitingInBind, OfAnyTaskIsAnError) {
    for (const int waits_at : {1, 2, 20}) {
        Runtime runtime(RuntimeOptions{.devices = "cpu", .policy = "demand:5000"});
        const Domain<std::uint32_t> x("x", {100'000}), y("y", {1});
        std::ranges::fill(x.fill(), 0U);
        std::ranges::fill(y.fill(), 0U);
        std::atomic<int> calls = 0;
        const JobHandle handle =
            runtime.submit(Job("outer", x.size()).updates(rows(x)).kernel([&](Task& task) {
                if (!task.range().empty() && ++calls == waits_at) // a call for each range that is looked at
                    runtime
                        .submit(Job("inner", 1).updates(y).kernel([&](Task& inner) {
                            return Increment{inner.update(y)};
                        }))
                        .wait();
                return Increment{task.update(x)};
            }));
        ASSERT_TRUE(handle.wait_for(100s)) << "it waits for ever";
        try {
            handle.wait();
            ADD_FAILURE() << "nothing was said at call " << waits_at << " of " << calls;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("cannot "), std::string::npos) << error.what();
        }
    }
}

TEST_F(Waiting, APolicyThatIsNotMadeIsAnError) {
    auto job = with(Job("outer", 1), [](Task&) {});
    job.policy([] { return std::unique_ptr<Policy>(); }, "none of mine");
    try {
        runtime_->submit(job);
        ADD_FAILURE() << "nothing was said";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("'none of mine'"), std::string::npos) << error.what();
    }
}

TEST_F(Waiting, InThenForItselfIsAnError) {
    std::atomic<const JobHandle*> self = nullptr;
    std::string thrown;
    const JobHandle call = then(runtime_->submit(with(Job("job", 1), [](Task&) {})), [&](JobStatus) {
        self.wait(nullptr);
        try {
            self.load()->wait();
        } catch (const Error& error) {
            thrown = error.what();
        }
    });
    self = &call;
    self.notify_all();
    ASSERT_TRUE(call.wait_for(100s)) << "it waits for ever";
    EXPECT_NE(thrown.find(of_its_own), std::string::npos) << thrown;
}

} // namespace
} // namespace headrace::test
