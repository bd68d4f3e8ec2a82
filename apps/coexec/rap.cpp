// apps/coexec/rap.cpp - the resource allocation problem of two activities: irregular, later units work more.
#include "problems.hpp"
#include "rap.kernels.hpp"

#include "rap.cl.hpp"

#include <algorithm>

namespace coexec {
namespace {

using headrace::Task;

class Rap final : public Problem {
public:
    Rap(const Settings& settings, const headrace::Runtime& runtime)
        : Problem(runtime),
          first_(input<std::int32_t>("first", {settings.size})),
          second_(input<std::int32_t>("second", {settings.size})),
          best_(result<std::int32_t>("best", {settings.size})) {
        fill(first_.fill(), settings.seed, 0);
        fill(second_.fill(), settings.seed, 1);
    }

    [[nodiscard]] std::string text() const override {
        return "rap: " + std::to_string(best_.size()) + " amounts";
    }

    [[nodiscard]] headrace::Job job() const override {
        headrace::Job job("rap", best_.size());
        job.reads(first_, second_)
            .writes(rows(best_))
            .kernel([first = first_, second = second_, best = best_](Task& task) {
                return Divide{task.read(first), task.read(second), task.write(best)};
            })
            .opencl(opencl_kernel("rap.cl", headrace::embedded::rap_cl),
                    [first = first_, second = second_, best = best_](Task& task,
                                                                     headrace::OpenClArguments& arguments) {
                        arguments.buffer(task.memory(first))
                            .buffer(task.memory(second))
                            .buffer(task.memory(best));
                    });
        return job;
    }

    /// Whole numbers: exact.
    [[nodiscard]] Verdict verify(std::uint64_t stride) const override {
        Verdict verdict;
        const auto first = first_.gather(), second = second_.gather(), best = best_.gather();
        for (std::uint64_t amount = 0; amount < best.size(); amount += stride) {
            std::int32_t most = 0;
            for (std::uint64_t i = 0; i <= amount; ++i) most = std::max(most, first[i] + second[amount - i]);
            verdict.compare("amount", amount, best[amount], most, 0);
        }
        return verdict;
    }

private:
    /// More of the resource earns more, by jumps of chance; two sums of all of them are within 31 bits.
    static void fill(std::span<std::int32_t> earnings, std::uint64_t seed, std::uint32_t list) {
        std::vector<float> jumps(earnings.size());
        fill_at_random(jumps, seed, list, 0, std::min(1000.0f, 1e9f / static_cast<float>(jumps.size())));
        std::int32_t sum = 0;
        for (std::size_t i = 0; i < earnings.size(); ++i) {
            earnings[i] = sum;
            sum += static_cast<std::int32_t>(jumps[i]);
        }
    }

    headrace::Domain<std::int32_t> first_, second_, best_;
};

} // namespace

std::unique_ptr<Problem> make_rap(const Settings& settings, const headrace::Runtime& runtime) {
    return std::make_unique<Rap>(settings, runtime);
}

} // namespace coexec
