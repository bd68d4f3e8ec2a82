// tests/domains/epochs/numbered.hpp - a job whose result tells which units were done, and how often.
#pragma once
#include <domains/epochs/epochs.kernels.hpp>
#include <headrace/headrace.hpp>

#include "numbered.cl.hpp"

#include <cstdint>
#include <vector>

namespace headrace::test {

inline constexpr std::uint64_t cells = 13; // of most tests

struct NumberedJob {
    std::uint64_t cells;
    Domain<std::uint64_t> sums{"sums", {cells}}, counts{"counts", {cells}};

    [[nodiscard]] Job job(std::uint64_t units) const {
        Job job("numbered", units);
        job.accumulates(sums, counts).kernel([sums = sums, counts = counts](Task& task) {
            return Numbered{task.sum(sums), task.sum(counts)};
        });
        OpenClKernel kernel;
        kernel.name = "numbered.cl";
        kernel.source = embedded::numbered_cl;
        job.opencl(kernel, [sums = sums, counts = counts](Task& task, OpenClArguments& arguments) {
            arguments.buffer(task.memory(sums)).buffer(task.memory(counts)).value(sums.size());
        });
        return job;
    }
    /// The sums and then the counts that these units leave.
    [[nodiscard]] std::vector<std::uint64_t> expected(IndexRange units) const {
        std::vector<std::uint64_t> all(2 * cells);
        for (std::uint64_t i = units.begin; i < units.end; ++i) {
            all[i % cells] += mixed(i);
            ++all[cells + i % cells];
        }
        return all;
    }
    [[nodiscard]] std::vector<std::uint64_t> result() const {
        std::vector<std::uint64_t> all(sums.gather().begin(), sums.gather().end());
        all.insert(all.end(), counts.gather().begin(), counts.gather().end());
        return all;
    }
};

} // namespace headrace::test
