// tests/domains/seeded_job_test.cpp - between a job's seeds and its kernel, what describes it stands in any
// order.
#include <domains/device_lists.hpp>
#include <domains/job.kernels.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace headrace::test {
namespace {

class SeededJobs : public OnDeviceLists {
protected:
    static constexpr std::uint64_t trees = 5;
    Domain<std::uint32_t> nodes_{"nodes", {trees}};

    [[nodiscard]] auto grow() const {
        return [nodes = nodes_](Task& task) { return Tree{task.sum(nodes), 3}; };
    }
    void expect_trees(const Job& job) {
        EXPECT_TRUE(job.shares_units());
        EXPECT_EQ(job.priority(), 2);
        runtime().submit(job).wait();
        for (const std::uint32_t count : nodes_.gather()) EXPECT_EQ(count, 15U);
        std::ranges::fill(nodes_.fill(), 0);
    }
};
INSTANTIATE_TEST_SUITE_P(On, SeededJobs, testing::Values("cpu", two_private_cpus, "cuda:0", "hip:0"),
                         by_list);

TEST_P(SeededJobs, AreDescribedBeforeOrAfterTheirSeeds) {
    std::ranges::fill(nodes_.fill(), 0);
    expect_trees(
        Job("trees", trees).accumulates(nodes_).share_units().priority(2).seeds(Roots{}).kernel(grow()));
    expect_trees(
        Job("trees", trees).accumulates(nodes_).seeds(Roots{}).share_units().priority(2).kernel(grow()));
    expect_trees(
        Job("trees", trees).seeds(Roots{}).priority(2).accumulates(nodes_).share_units().kernel(grow()));
    expect_trees(
        Job("trees", trees).seeds(Roots{}).share_units().accumulates(nodes_).kernel(grow()).priority(2));
}

TEST_P(SeededJobs, HaveEveryCallThatDescribes) {
    const Domain<float> in("in", {trees}), out("out", {trees}), both("both", {trees});
    const JobHandle earlier =
        runtime().submit(Job("earlier", trees).accumulates(nodes_).seeds(Roots{}).kernel(grow()));
    const auto nothing = [](const TaskStatistics&) {};
    const Job job =
        Job("trees", trees)
            .seeds(Roots{})
            .reads(in)
            .writes(out)
            .updates(both)
            .after(earlier)
            .in_order()
            .concurrent()
            .only_on({"cpu"})
            .priority(3)
            .policy("dynamic:7")
            .kernel_name("name")
            .on_tasks(nothing, nothing)
            .grain(2)
            .split_by([](IndexRange, std::uint64_t wanted) { return wanted + 1; })
            .tune({.wishes = {}, .bundles = 17})
            .opencl({.name = "grow", .source = "", .kinds = 1, .unit_bytes = 8, .max_spawns = 2}, {})
            .host_function("fake", [](Task&, const NativeStream&) {})
            .kernel(grow());
    ASSERT_EQ(job.uses().size(), 3U);
    EXPECT_EQ(job.uses()[0].access, Access::read);
    EXPECT_EQ(job.uses()[1].access, Access::write);
    EXPECT_EQ(job.uses()[2].access, Access::update);
    EXPECT_EQ(job.predecessors().size(), 1U);
    EXPECT_TRUE(job.is_in_order());
    EXPECT_TRUE(job.is_concurrent());
    EXPECT_EQ(job.devices(), std::vector<std::string>{"cpu"});
    EXPECT_EQ(job.priority(), 3);
    EXPECT_EQ(job.policy_name(), "dynamic:7");
    EXPECT_EQ(job.kernel_name(), "name");
    EXPECT_TRUE(job.before_tasks() && job.after_tasks());
    EXPECT_EQ(job.grain(), 2U);
    EXPECT_EQ(job.split({0, trees}, 1), 2U);
    EXPECT_EQ(job.tuning().bundles, 17U);
    for (const char* const technology : {"cpu", "opencl", "fake"})
        EXPECT_TRUE(job.variant(technology)) << technology;
    earlier.wait();
}

TEST_P(SeededJobs, MayReadDomainsInTheirSeeds) {
    const Domain<std::uint32_t> list("list", {7});
    constexpr std::array<std::uint32_t, 7> wanted = {0, 3, 1, 4, 2, 0, 3};
    std::ranges::copy(wanted, list.fill().begin());
    std::ranges::fill(nodes_.fill(), 0);
    Job job("trees", 7);
    job.reads(list)
        .accumulates(nodes_)
        .share_units()
        .seeds([=](Task& task) { return ListedRoots{task.read(list)}; })
        .kernel(grow());
    runtime().submit(job).wait();
    const auto counts = nodes_.gather();
    for (std::uint32_t tree = 0; tree < trees; ++tree)
        EXPECT_EQ(counts[tree], tree == 0 || tree == 3 ? 30U : 15U) << tree;
}

} // namespace
} // namespace headrace::test
