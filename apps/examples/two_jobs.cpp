// apps/examples/two_jobs.cpp - two jobs, of which the second reads what the first has made.
#include "example.hpp"
#include "two_jobs.cl.hpp"
#include "two_jobs.kernels.hpp"

#include <algorithm>
#include <vector>

using namespace headrace;

int main(int argc, char** argv) {
    return example::run(argc, argv, 1'000'000, [](std::uint64_t size, Runtime& runtime) {
        Domain<std::uint32_t> steps("steps", {size});
        Domain<std::uint64_t> numbers("numbers", {2000});

        Job make("count steps", size);
        make.writes(rows(steps)); // each task writes the elements of its own units
        make.kernel([&](Task& t) { return CountSteps{t.write(steps)}; });
        make.opencl({"two_jobs.cl", std::string(embedded::two_jobs_cl)},
                    [&](Task& t, OpenClArguments& arguments) { arguments.buffer(t.memory(steps)); });

        Job read("count numbers", size);
        read.reads(rows(steps)).accumulates(numbers);
        read.kernel([&](Task& t) { return CountNumbers{t.read(steps), t.sum(numbers)}; });
        read.opencl(
            {.name = "two_jobs.cl", .source = std::string(embedded::two_jobs_cl), .options = "-DREAD"},
            [&](Task& t, OpenClArguments& arguments) {
                arguments.buffer(t.memory(steps)).buffer(t.memory(numbers));
            });

        // Where jobs use the same data they run in the order of submission: nothing waits here.
        const JobHandle first = runtime.submit(make), second = runtime.submit(read);
        const std::span<const std::uint64_t> result = numbers.gather(); // waits for both

        std::vector<std::uint64_t> expected(result.size());
        for (std::uint64_t i = 0; i < size; ++i) ++expected[collatz_steps(i)];
        const auto most = std::max_element(result.begin(), result.end());
        std::printf("%zu numbers take %td steps, no other count is as frequent\n%s%s", *most,
                    most - result.begin(), first.report().table().c_str(), second.report().table().c_str());
        return std::equal(result.begin(), result.end(), expected.begin());
    });
}
