// tests/domains/cluster/shared_jobs_test.cpp - jobs that several ranks share have the results of one rank, to
// the last bit, whatever the delays between ranks.
#include "cluster.kernels.hpp"
#include "ranks.hpp"

#include <core/eventually.hpp>
#include <core/quiet_machine.hpp>
#include <core/seeds.hpp>
#include <domains/access.kernels.hpp>
#include <domains/exact_reference.hpp>
#include <domains/job.kernels.hpp>
#include <domains/joining.kernels.hpp>
#include <headrace/domains/cluster/traffic.hpp>
#include <headrace/headrace.hpp>
#include <headrace/internal/domains/cluster/current_node.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using cluster::SimulatedNetwork;

constexpr std::uint64_t size = 20'011, cells = 7; // primes: no task size divides them

/// Number of ranks, and the longest delay of a message.
struct Case {
    int ranks;
    std::chrono::microseconds delay;
};

class SharedJobs : public testing::TestWithParam<Case> {
protected:
    /// What all ranks shall have, as bytes. Each rank calls it with its results.
    void expect_alike(int rank, const std::string& what, std::span<const std::byte> bytes) {
        const std::scoped_lock lock(mutex_);
        std::vector<std::byte> mine(bytes.begin(), bytes.end());
        const auto [first, is_first] = results_.try_emplace(what, std::move(mine));
        if (is_first) return;
        EXPECT_TRUE(std::ranges::equal(first->second, bytes)) << what << " differs on rank " << rank;
    }
    template <class T>
    void expect_alike(int rank, const std::string& what, std::span<const T> values) {
        expect_alike(rank, what, std::as_bytes(values));
    }
    void run(const std::function<void(int, Runtime&)>& program) {
        const auto outcomes = on_ranks(GetParam().ranks, network_, program);
        for (std::size_t rank = 0; rank < outcomes.size(); ++rank)
            EXPECT_FALSE(outcomes[rank].error)
                << "rank " << rank << ": " << outcomes[rank].error->what() << ", seed " << seed_;
    }
    std::vector<std::uint64_t> random_words(std::uint64_t count = size) const {
        std::mt19937_64 random(seed_);
        std::vector<std::uint64_t> words(count);
        for (std::uint64_t& word : words) word = random();
        return words;
    }

    const std::uint32_t seed_ = fresh_seed();
    SimulatedNetwork network_{GetParam().ranks, {.seed = seed_, .most_delay = GetParam().delay}};

private:
    std::mutex mutex_;
    std::map<std::string, std::vector<std::byte>> results_;
};
INSTANTIATE_TEST_SUITE_P(On, SharedJobs,
                         testing::Values(Case{1, 0us}, Case{2, 0us}, Case{2, 2000us}, Case{3, 0us},
                                         Case{4, 500us}, Case{7, 0us}, Case{40, 0us}),
                         [](const auto& one) {
                             return std::to_string(one.param.ranks) + "ranks" +
                                    std::to_string(one.param.delay.count()) + "us";
                         });

TEST_P(SharedJobs, SumsOfIntegersAreExact) {
    run([&](int rank, Runtime& runtime) {
        const Domain<std::uint64_t> bins("bins", {cells});
        std::ranges::fill(bins.fill(), 100); // earlier contents count once, not once for each rank
        runtime.submit(Job("histogram", size).accumulates(bins).kernel([=](Task& task) {
            return Histogram{task.sum(bins)};
        }));
        const auto sums = bins.gather();
        for (std::uint64_t cell = 0; cell < cells; ++cell)
            EXPECT_EQ(sums[cell], 100 + size / cells + (cell < size % cells ? 1 : 0)) << "rank " << rank;
    });
}

// Each rank has two devices, so it sends two private replicas at most.
TEST_P(SharedJobs, CountWhatTheResultsNeed) {
    constexpr std::uint64_t bytes = 8000, slack = 300; // too large for slots
    const auto others = static_cast<std::uint64_t>(GetParam().ranks - 1);
    run([&](int rank, Runtime& runtime) {
        const Domain<std::uint64_t> bins("bins", {bytes / sizeof(std::uint64_t)});
        runtime.submit(Job("histogram", size).accumulates(bins).kernel([=](Task& task) {
            return Histogram{task.sum(bins)};
        }));
        static_cast<void>(bins.gather());
        const auto traffic = cluster::collect_traffic();
        ASSERT_EQ(traffic.size(), rank == 0 ? others + 1 : 0);
        std::uint64_t sent = 0, replicas = 0;
        for (const cluster::RankTraffic& one : traffic) {
            sent += one.results.bytes;
            if (one.rank == 0) {
                EXPECT_EQ(one.least_result_bytes, 0u);
                continue;
            }
            // The result, and a private replica if the rank had work.
            EXPECT_TRUE(one.least_result_bytes == bytes || one.least_result_bytes == 2 * bytes)
                << one.least_result_bytes;
            replicas += one.least_result_bytes == bytes ? 0 : 1;
        }
        if (rank != 0) return;
        EXPECT_GE(sent, (others + replicas) * bytes);
        EXPECT_LE(sent, (others + 2 * replicas) * bytes + others * slack);
    });
}

TEST_P(SharedJobs, SumsOfOneRankAndOfAllRanksCountOnce) {
    run([&](int rank, Runtime& runtime) {
        const Domain<std::uint64_t> bins("bins", {1});
        const auto add = [&](std::uint64_t units) {
            return Job("add", units).accumulates(bins).kernel([=](Task& task) {
                return Histogram{task.sum(bins)};
            });
        };
        const std::string device = runtime.devices()[0]->id; // each rank does a job for it alone
        runtime.submit(add(1'000));
        runtime.submit(add(30).only_on({device}));
        runtime.submit(add(1));
        runtime.submit(add(500).concurrent());
        runtime.submit(add(7).only_on({device}));
        EXPECT_EQ(bins.gather()[0], 1'538) << "rank " << rank;
    });
}

TEST_P(SharedJobs, RecordsThatWereClearedStayAway) {
    const auto contents = random_words(50);
    run([&](int rank, Runtime& runtime) {
        const Domain<std::uint64_t> words("words", {contents.size()});
        std::ranges::copy(contents, words.fill().begin());
        const Domain<Record> records("records", {6 * contents.size()});
        const auto append = [&](std::uint64_t units) {
            return Job("append", units).reads(words).appends(records).kernel([=](Task& task) {
                return AppendSome{task.read(words), task.append(records)};
            });
        };
        runtime.submit(append(contents.size()));
        records.clear();
        runtime.submit(append(1).only_on({runtime.devices()[0]->id}));
        EXPECT_EQ(records.count(), AppendSome::count(contents[0])) << "rank " << rank;
    });
}

TEST_P(SharedJobs, ARankZeroThatEndsEndsWhatWaitsForItsWork) {
    if (GetParam().ranks == 1) GTEST_SKIP() << "no other rank";
    const auto outcomes = on_ranks(GetParam().ranks, network_, [&](int rank, Runtime& runtime) {
        if (rank == 0) throw Error{ErrorKind::io, "the disk is full"};
        const Domain<std::uint64_t> bins("bins", {cells});
        runtime
            .submit(Job("histogram", size).accumulates(bins).kernel([=](Task& task) {
                return Histogram{task.sum(bins)};
            }))
            .wait();
    });
    for (const RankOutcome& outcome : outcomes) EXPECT_TRUE(outcome.error);
}

TEST_P(SharedJobs, UnitsThatSpawnAreDoneOnce) {
    constexpr std::uint64_t seeds = 300;
    constexpr std::uint32_t depth = 7;
    run([&](int, Runtime& runtime) {
        const Domain<std::uint32_t> nodes("nodes", {seeds});
        runtime.submit(
            Job("tree", seeds).accumulates(nodes).share_units().seeds(Roots{}).kernel([=](Task& task) {
                return Tree{task.sum(nodes), depth};
            }));
        for (const std::uint32_t count : nodes.gather()) EXPECT_EQ(count, (2u << depth) - 1);
    });
}

TEST_P(SharedJobs, UnitsOfFewSeedsSpreadOverRanks) {
    const auto ranks = static_cast<std::uint64_t>(GetParam().ranks);
    for (const std::uint64_t seeds : {1u, 3u}) {
        std::vector<std::uint64_t> expected(cells);
        std::vector<Twig> left;
        for (std::uint64_t seed = 0; seed < seeds; ++seed) left.push_back(Twig::root(seed));
        while (!left.empty()) {
            const Twig twig = left.back();
            left.pop_back();
            ++expected[twig.key % cells];
            if (!twig.has_children()) continue;
            left.push_back(twig.child(0));
            left.push_back(twig.child(1));
        }
        run([&](int rank, Runtime& runtime) {
            const Domain<std::uint64_t> nodes("nodes", {cells}), of_rank("of rank", {ranks});
            auto job = Job("tree", seeds).accumulates(nodes, of_rank).share_units();
            runtime.submit(job.seeds(TwigRoots{}).kernel([=](Task& task) {
                return CountTwigs{task.sum(nodes), task.sum(of_rank), static_cast<std::uint64_t>(rank), 3000};
            }));
            EXPECT_TRUE(std::ranges::equal(nodes.gather(), expected)) << "rank " << rank;
            const auto counts = of_rank.gather();
            const auto at_work = std::ranges::count_if(counts, [](std::uint64_t units) { return units > 0; });
            EXPECT_TRUE(at_work > 1 || ranks == 1) << "one rank has done all";
            if (rank == 0) std::cout << at_work << " of " << ranks << " ranks were at work\n";
        });
    }
}

TEST_P(SharedJobs, UnitsOfAnotherKernelAreRefused) {
    if (GetParam().ranks == 1) GTEST_SKIP() << "no other rank";
    const auto outcomes = on_ranks(GetParam().ranks, network_, [&](int rank, Runtime& runtime) {
        const Domain<std::uint64_t> nodes("nodes", {1}), of_rank("of rank", {1});
        const Domain<std::uint32_t> others("others", {1});
        Job job("tree", 1);
        if (rank % 2 == 0) // any rank may get the seed
            job.accumulates(nodes, of_rank).share_units().seeds(TwigRoots{}).kernel([=](Task& task) {
                return CountTwigs{task.sum(nodes), task.sum(of_rank), 0, 30'000};
            });
        else
            job.accumulates(others).share_units().seeds(Roots{}).kernel([=](Task& task) {
                return Tree{task.sum(others), 24};
            });
        runtime.submit(job).wait();
    });
    for (const RankOutcome& outcome : outcomes) {
        ASSERT_TRUE(outcome.error);
        EXPECT_NE(std::string(outcome.error->what()).find("were given to a kernel"), std::string::npos)
            << outcome.error->what();
    }
}

TEST_P(SharedJobs, ReductionsCombineEarlierContentsOnce) {
    const auto contents = random_words();
    std::uint64_t odd = 5, least = 1'000;
    for (const std::uint64_t word : contents) {
        odd ^= word;
        least = std::min(least, word);
    }
    run([&](int, Runtime& runtime) {
        const Domain<std::uint64_t> words("words", {size}), x("x", {1}), y("y", {1});
        std::ranges::copy(contents, words.fill().begin());
        x.fill()[0] = 5;
        y.fill()[0] = 1'000;
        runtime.submit(Job("xor", size).reads(words).reduces<BitXor>(x).kernel([=](Task& task) {
            return ReduceInto<BitXor>{task.read(words), task.reduce<BitXor>(x)};
        }));
        runtime.submit(Job("min", size).reads(words).reduces<Min>(y).kernel([=](Task& task) {
            return ReduceInto<Min>{task.read(words), task.reduce<Min>(y)};
        }));
        EXPECT_EQ(x.gather()[0], odd);
        EXPECT_EQ(y.gather()[0], least);
    });
}

TEST_P(SharedJobs, ExactSumsAreRoundedOnce) {
    const auto contents = random_words();
    run([&](int rank, Runtime& runtime) {
        const Domain<std::uint64_t> words("words", {size});
        std::ranges::copy(contents, words.fill().begin());
        const Domain<ExactSum<double>> full("full", {cells});
        const Domain<ExactSum<float>> floats("floats", {cells});
        const Domain<ExactSum<double, ValueTable::DeclaredRange>> declared("declared", {cells});
        const auto submit = [&] {
            return runtime.submit(
                Job("exact", size).reads(words).accumulates(full, floats, declared).kernel([=](Task& task) {
                    return AddExactly{task.read(words), task.sum(full), task.sum(floats), task.sum(declared)};
                }));
        };
        submit();
        submit(); // joined together
        expect_alike(rank, "full", full.gather());
        expect_alike(rank, "floats", floats.gather());
        expect_alike(rank, "declared", declared.gather());
        // A rank by itself, without the others.
        const cluster::NodeOfThisThread none(nullptr);
        Runtime alone({.devices = "cpu"});
        const Domain<ExactSum<double>> full_alone("full", {cells});
        const Domain<ExactSum<float>> floats_alone("floats", {cells});
        const Domain<ExactSum<double, ValueTable::DeclaredRange>> declared_alone("declared", {cells});
        for (int twice = 0; twice < 2; ++twice)
            alone.submit(Job("exact", size)
                             .reads(words)
                             .accumulates(full_alone, floats_alone, declared_alone)
                             .kernel([=](Task& task) {
                                 return AddExactly{task.read(words), task.sum(full_alone),
                                                   task.sum(floats_alone), task.sum(declared_alone)};
                             }));
        expect_alike(rank, "full", full_alone.gather());
        expect_alike(rank, "floats", floats_alone.gather());
        expect_alike(rank, "declared", declared_alone.gather());
    });
}

TEST_P(SharedJobs, RecordsFollowOneAnother) {
    const auto contents = random_words(2'003);
    std::vector<Record> expected{{1, 2, 3}};
    for (std::uint64_t i = 0; i < contents.size(); ++i)
        for (std::uint32_t number = 0; number < AppendSome::count(contents[i]); ++number)
            expected.push_back(AppendSome::record(i, contents[i], number));
    const auto order = [](const Record& a, const Record& b) {
        return std::tie(a.unit, a.number, a.part) < std::tie(b.unit, b.number, b.part);
    };
    std::ranges::sort(expected, order);
    run([&](int rank, Runtime& runtime) {
        const Domain<std::uint64_t> words("words", {contents.size()});
        std::ranges::copy(contents, words.fill().begin());
        const Domain<Record> records("records", {6 * contents.size() + 1});
        records.assign(std::vector<Record>{{1, 2, 3}});
        runtime.submit(Job("append", contents.size()).reads(words).appends(records).kernel([=](Task& task) {
            return AppendSome{task.read(words), task.append(records)};
        }));
        EXPECT_EQ(records.count(), expected.size());
        const auto found = records.records();
        expect_alike(rank, "records in their order", found);
        std::vector<Record> sorted(found.begin(), found.end());
        std::ranges::sort(sorted, order);
        const auto [here, there] = std::ranges::mismatch(sorted, expected);
        EXPECT_TRUE(here == sorted.end())
            << "rank " << rank << ": record " << here - sorted.begin() << " is " << here->unit << ", "
            << here->number << ", not " << there->unit << ", " << there->number;
    });
}

TEST_P(SharedJobs, ScatteredElementsReachAllRanks) {
    std::vector<std::uint32_t> to(size);
    std::iota(to.begin(), to.end(), 0);
    std::ranges::shuffle(to, std::mt19937(seed_));
    run([&](int, Runtime& runtime) {
        const Domain<std::uint32_t> places("places", {size});
        std::ranges::copy(to, places.fill().begin());
        const Domain<std::uint64_t> x("x", {size});
        std::ranges::fill(x.fill(), 9);
        constexpr std::uint64_t units = size / 2;
        runtime.submit(Job("permute", units).reads(places).scatters(x).kernel([=](Task& task) {
            return Permute{task.read(places), task.scatter(x), 100};
        }));
        const auto found = x.gather();
        std::vector<std::uint64_t> expected(size, 9);
        for (std::uint64_t i = 0; i < units; ++i) expected[to[i]] = 100 + i;
        EXPECT_TRUE(std::ranges::equal(found, expected));
    });
}

TEST_P(SharedJobs, AJobOfEachRankReadsWhatAllRanksWrote) {
    constexpr int rounds = 3;
    std::vector<std::uint64_t> expected(cells, 1), doubled(cells);
    for (int round = 0; round < rounds; ++round) {
        for (std::uint64_t cell = 0; cell < cells; ++cell) doubled[cell] = 2 * expected[cell];
        for (std::uint64_t i = 0; i < size; ++i) expected[i % cells] += doubled[i % cells];
    }
    run([&](int, Runtime& runtime) {
        const Domain<std::uint64_t> sums("sums", {cells}), twice("twice", {cells});
        std::ranges::fill(sums.fill(), 1);
        for (int round = 0; round < rounds; ++round) {
            runtime.submit(Job("twice", cells).reads(sums).writes(rows(twice)).kernel([=](Task& task) {
                return TwiceWords{task.read(sums), task.write(twice)};
            }));
            runtime.submit(Job("add", size).reads(twice).accumulates(sums).kernel([=](Task& task) {
                return AddWords{task.read(twice), task.sum(sums)};
            }));
        }
        EXPECT_TRUE(std::ranges::equal(sums.gather(), expected));
    });
}

TEST_P(SharedJobs, RowsThatOtherRanksWroteAreRead) {
    constexpr int rounds = 6;
    const auto contents = random_words();
    std::vector<std::uint64_t> expected = contents;
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::uint64_t> next(size);
        for (std::uint64_t i = 0; i < size; ++i)
            next[i] = 3 * expected[i] + 5 * expected[(i + size - 1) % size] + 7 * expected[(i + 1) % size];
        for (std::uint64_t i = 0; i < size; ++i) next[i] += i;
        expected = next;
    }
    run([&](int rank, Runtime& runtime) {
        Domain<std::uint64_t> now("now", {size}), next("next", {size});
        std::ranges::copy(contents, now.fill().begin());
        for (int round = 0; round < rounds; ++round) {
            runtime.submit(Job("mix", size).reads(now).writes(rows(next)).kernel([=](Task& task) {
                return Mix{task.read(now), task.write(next)};
            }));
            runtime.submit(Job("add index", size).updates(rows(next)).kernel([=](Task& task) {
                return AddIndex{task.update(next)};
            }));
            std::swap(now, next);
        }
        EXPECT_TRUE(std::ranges::equal(now.gather(), expected)) << "rank " << rank;
    });
}

TEST_P(SharedJobs, PartsThatOtherRanksWroteAreRead) {
    run([&](int rank, Runtime& runtime) {
        const Domain<std::uint64_t> x("x", {size});
        std::ranges::fill(x.fill(), 1);
        constexpr std::uint64_t units = size - 5; // the first elements stay as they are
        const auto mirrored = [](IndexRange task) { return IndexRange{size - task.end, size - task.begin}; };
        runtime.submit(Job("mirrored", units).writes(part(x, mirrored)).kernel([=](Task& task) {
            return WriteMirrored{task.write(x)};
        }));
        const auto found = x.gather();
        for (std::uint64_t i = 0; i < size; ++i)
            ASSERT_EQ(found[i], i < 5 ? 1 : 11 * (size - 1 - i)) << "element " << i << ", rank " << rank;
    });
}

TEST_P(SharedJobs, AFailureReachesReadersOnAllRanks) {
    const auto outcomes = on_ranks(GetParam().ranks, network_, [&](int, Runtime& runtime) {
        const Domain<std::uint64_t> x("x", {size});
        runtime.submit(
            Job("thrower", size).writes(rows(x)).kernel([](Task&) { return Thrower{.at = 7777}; }));
        static_cast<void>(x.gather());
    });
    for (const RankOutcome& outcome : outcomes) {
        ASSERT_TRUE(outcome.error);
        EXPECT_EQ(outcome.error->job(), "thrower") << outcome.error->what();
    }
}

TEST_P(SharedJobs, AFailureReachesAllRanksWithinASecond) {
    on_a_quiet_machine([&] {
        SimulatedNetwork network(GetParam().ranks, {.seed = fresh_seed(), .most_delay = GetParam().delay});
        std::mutex mutex;
        std::vector<std::chrono::steady_clock::time_point> known; // by each rank
        const auto outcomes = on_ranks(GetParam().ranks, network, [&](int, Runtime& runtime) {
            const Domain<std::uint64_t> turns("turns", {1});
            const JobHandle handle = runtime.submit(
                Job("thrower", size).accumulates(turns).kernel([](Task&) { return Thrower{.at = 7777}; }));
            try {
                handle.wait();
            } catch (const Error&) {
                const std::scoped_lock lock(mutex);
                known.push_back(std::chrono::steady_clock::now());
                throw;
            }
        });
        for (const RankOutcome& outcome : outcomes) {
            ASSERT_TRUE(outcome.error);
            EXPECT_EQ(outcome.error->kind(), ErrorKind::kernel) << outcome.error->what();
            EXPECT_EQ(outcome.error->job(), "thrower") << outcome.error->what();
        }
        ASSERT_EQ(known.size(), outcomes.size());
        // The rank that failed is the first to know.
        EXPECT_LT(std::ranges::max(known) - std::ranges::min(known), 1s);
    });
}

TEST_P(SharedJobs, RanksThatSubmitOtherJobsAreRefused) {
    if (GetParam().ranks == 1) GTEST_SKIP() << "one rank agrees with itself";
    const auto outcomes = on_ranks(GetParam().ranks, network_, [&](int rank, Runtime& runtime) {
        const Domain<std::uint64_t> bins("bins", {cells});
        const std::uint64_t units = rank == 1 ? size : size + 1;
        runtime
            .submit(Job("histogram", units).accumulates(bins).kernel([=](Task& task) {
                return Histogram{task.sum(bins)};
            }))
            .wait();
        static_cast<void>(bins.gather());
    });
    for (const RankOutcome& outcome : outcomes) {
        ASSERT_TRUE(outcome.error);
        EXPECT_NE(std::string(outcome.error->what()).find("the same program with the same input"),
                  std::string::npos)
            << outcome.error->what();
    }
}

TEST_P(SharedJobs, ALostRankEndsTheOthersInWords) {
    if (GetParam().ranks == 1) GTEST_SKIP() << "no other rank";
    const auto outcomes = on_ranks(GetParam().ranks, network_, [&](int rank, Runtime& runtime) {
        const Domain<std::uint64_t> turns("turns", {1});
        const auto job =
            runtime.submit(Job("endless", 1 << 20).accumulates(turns).seeds(Roots{}).kernel([=](Task& task) {
                return Endless{task.sum(turns)};
            }));
        if (rank == 1) {
            // Two exchanges at the start take four messages a rank; then each rank asks for work.
            const auto asked = 5 * static_cast<std::uint64_t>(GetParam().ranks - 1);
            EXPECT_TRUE(eventually([&] { return network_.traffic().messages >= asked; }));
            network_.lose(1);
        }
        job.wait();
    });
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
        ASSERT_TRUE(outcomes[rank].error);
        if (rank == 1) continue;
        EXPECT_NE(std::string(outcomes[rank].error->what()).find("rank 1"), std::string::npos)
            << outcomes[rank].error->what();
    }
}

} // namespace
} // namespace headrace::test
