// apps/examples/mariani_silver.cpp - the Mandelbrot set by subdivision of squares (Mariani and Silver).
#include "example.hpp"
#include "mariani_silver.cl.hpp"
#include "mariani_silver.kernels.hpp"

using namespace headrace;

int main(int argc, char** argv) {
    return example::run(argc, argv, 512, [](std::uint64_t size, Runtime& runtime) {
        if (size > 32'768) throw std::invalid_argument("SIZE is at most 32768");
        const std::uint32_t in_row = std::uint32_t(size + 63) / 64, width = in_row * 64;
        Domain<std::uint32_t> steps("steps", {width, width});
        Job job("mariani-silver", in_row * in_row);
        job.scatters(steps).share_units();
        job.seeds(Squares{in_row}).kernel([&](Task& t) { return DrawSquare{t.scatter(steps), width}; });
        job.opencl(
            {"mariani_silver.cl", std::string(embedded::mariani_silver_cl), 1, sizeof(Square), 4},
            [&](Task& t, OpenClArguments& arguments) { arguments.buffer(t.memory(steps)).value(width); });
        const JobHandle run = runtime.submit(job);
        run.wait();
        const std::span<const std::uint32_t> all = steps.gather();
        std::uint64_t wrong = 0;
        for (std::uint32_t i = 0; i < all.size(); ++i)
            wrong += all[i] != steps_at(i % width, i / width, width);
        std::printf("%zu pixels, %zu of them wrong\n%s", all.size(), wrong, run.report().table().c_str());
        return wrong <= all.size() / 100'000; // something may reach in between two pixels of a border
    });
}
