// tests/domains/cluster/submitters_test.cpp - calls of a rank have the numbers that they have on other ranks,
// whatever comes first.
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/cluster/submitters.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace headrace::test {
namespace {

using cluster::CallNumber, cluster::Submitters, cluster::SubmitterScope;
using Call = Submitters::Call;

void in_a_thread(const std::function<void()>& call) { std::thread(call).join(); }

/// Why the call is refused; empty: it is not.
std::string refusal(const auto& call) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
        return error.what();
    }
    return {};
}
void expect_in(const std::string& part, const std::string& text) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Submitters, CountEachKindOfCallForItself) {
    Submitters submitters;
    EXPECT_EQ(submitters.next(Call::job), (CallNumber{0, 0, 0}));
    EXPECT_EQ(submitters.next(Call::exchange), (CallNumber{0, 0, 0}));
    EXPECT_EQ(submitters.next(Call::job), (CallNumber{0, 1, 0}));
    const SubmitterScope other(3);
    EXPECT_EQ(submitters.next(Call::job), (CallNumber{0, 0, 3}));
    {
        const SubmitterScope inner(4);
        EXPECT_EQ(submitters.next(Call::job), (CallNumber{0, 0, 4}));
    }
    EXPECT_EQ(submitters.next(Call::job), (CallNumber{0, 1, 3}));
}

TEST(Submitters, CountAnewInEachGenerationButForRuns) {
    Submitters submitters;
    for (const Call call : {Call::job, Call::exchange, Call::run})
        EXPECT_EQ(submitters.next(call).ordinal, 0u);
    const auto function = submitters.next_function();
    submitters.begin_generation(1);
    EXPECT_EQ(submitters.next(Call::job), (CallNumber{1, 0, 0}));
    EXPECT_EQ(submitters.next(Call::exchange), (CallNumber{1, 0, 0}));
    EXPECT_EQ(submitters.next(Call::run).ordinal, 1u) << "a run goes on in the next generation";
    EXPECT_NE(submitters.next_function(), function) << "it belongs to the earlier generation";
}

TEST(Submitters, ASecondThreadNeedsANumber) {
    Submitters submitters;
    static_cast<void>(submitters.next(Call::job));
    in_a_thread([&] {
        const auto next = [&](Call call) {
            return refusal([&] { static_cast<void>(submitters.next(call)); });
        };
        expect_in("headrace::cluster::ThreadNumber", next(Call::job));
        expect_in("headrace::cluster::ThreadNumber", next(Call::exchange));
        EXPECT_EQ(submitters.next_function(), cluster::no_submitter);
        const SubmitterScope with_number(1);
        EXPECT_EQ(submitters.next(Call::job), (CallNumber{0, 0, 1}));
    });
    EXPECT_EQ(submitters.next(Call::job), (CallNumber{0, 1, 0}));
}

TEST(Submitters, ANumberBelongsToOneThreadAtATime) {
    Submitters submitters;
    submitters.enter(2);
    expect_in("ThreadNumber 2", refusal([&] { submitters.enter(2); }));
    submitters.leave(2);
    submitters.enter(2);
    expect_in("0 is the number", refusal([&] { submitters.enter(0); }));
}

TEST(Submitters, OneAloneGoesOnAfterLosses) {
    Submitters submitters;
    submitters.admit_only_this();
    submitters.admit_only_this();
    EXPECT_EQ(submitters.next(Call::job), (CallNumber{0, 0, 0}));
    const SubmitterScope other(3);
    expect_in("one thread submits all jobs", refusal([&] { static_cast<void>(submitters.next(Call::job)); }));
    expect_in("one thread submits all jobs", refusal([&] { submitters.admit_only_this(); }));
}

TEST(Submitters, ATaskIsNone) {
    Submitters submitters;
    {
        const SubmitterScope task(cluster::no_submitter);
        expect_in("tasks cannot", refusal([&] { static_cast<void>(submitters.next(Call::job)); }));
        EXPECT_EQ(submitters.next_function(), cluster::no_submitter);
    }
    EXPECT_EQ(submitters.next(Call::job), (CallNumber{0, 0, 0})) << "a task has not become the first thread";
}

TEST(Submitters, FunctionsAreKnownByTheirCallers) {
    // Two ranks: on the second one, all happens in another order.
    Submitters here, there;
    const auto function_of = [](Submitters& rank, std::uint64_t thread) {
        const SubmitterScope scope(thread);
        return rank.next_function();
    };
    const auto first_of_1 = function_of(here, 1), second_of_1 = function_of(here, 1),
               first_of_2 = function_of(here, 2);
    EXPECT_EQ(function_of(there, 2), first_of_2);
    EXPECT_EQ(function_of(there, 1), first_of_1);
    EXPECT_EQ(function_of(there, 1), second_of_1);

    // No two are alike, also those of functions.
    std::set<std::uint64_t> all{1, 2, first_of_1, second_of_1, first_of_2};
    std::vector<std::uint64_t> callers(all.begin(), all.end());
    std::size_t expected = all.size();
    for (const std::uint64_t caller : callers)
        for (int call = 0; call < 1000; ++call) {
            all.insert(function_of(here, caller));
            ++expected;
        }
    EXPECT_EQ(all.size(), expected);
}

} // namespace
} // namespace headrace::test
