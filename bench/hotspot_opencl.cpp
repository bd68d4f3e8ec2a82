// bench/hotspot_opencl.cpp - Hotspot in plain OpenCL, on the device with the number `--device` in the
// loader's order. Asynchronously, a kernel, the copy of what the last one has made, and the saving of what
// was made before that go on at the same time.
#include "hotspot.cl.hpp"
#include "hotspot/chip.hpp"
#include "hotspot/saved.hpp"
#include "matrix_baseline.hpp"
#include "opencl_baseline.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace {

constexpr int fused = 4, group = 16, block_rows = 16, block_columns = 248; // as hotspot.cl

class Simulation {
public:
    explicit Simulation(const bench::MatrixProblem& problem)
        : size_(problem.size),
          count_(static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_)),
          device_(problem.device, headrace::embedded::hotspot_cl),
          saved_(count_, static_cast<int>(problem.host_threads)) {
        hotspot::make_power(size_, {host_[0].floats(), count_});
        write(power_.get());
        hotspot::make_temperatures({host_[0].floats(), count_});
        write(heat_[0].get());
    }

    void synchronous(int number) {
        for (int i = 0; i * fused < number; ++i) {
            const bench::Event computed = launch(i, std::min(fused, number - i * fused), nullptr);
            const bench::Event copied = copy(i, computed.get());
            cl_event done = copied.get();
            CHECK(clWaitForEvents(1, &done));
            saved_.take(host_[1 - i % 2].floats());
        }
    }

    void asynchronous(int number) {
        const int launches = (number + fused - 1) / fused;
        bench::Event copied[2];
        for (int i = 0; i <= launches; ++i) {
            const int from = i % 2, to = 1 - from;
            if (i < launches) {
                // What it writes is what the launch before the last has made.
                const bench::Event computed =
                    launch(i, std::min(fused, number - i * fused), copied[to].get());
                copied[to] = copy(i, computed.get());
            }
            if (i > 0) { // what the last launch has made, while this one's is copied
                cl_event done = copied[from].get();
                CHECK(clWaitForEvents(1, &done));
                saved_.take(host_[from].floats());
            }
        }
    }

    [[nodiscard]] std::string device() const { return device_.name(); }
    [[nodiscard]] double checksum() const {
        return std::reduce(saved_.cells().begin(), saved_.cells().end(), 0.0) / static_cast<double>(count_);
    }

private:
    [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(float); }

    void write(cl_mem to) {
        CHECK(clEnqueueWriteBuffer(kernels_.get(), to, CL_TRUE, 0, bytes(), host_[0].floats(), 0, nullptr,
                                   nullptr));
    }
    /// A work-group for each square of cells on GPUs, a work-item for each block of cells on processors.
    [[nodiscard]] std::array<std::size_t, 2> items() const {
        const auto blocks = [this](int side) { return static_cast<std::size_t>((size_ + side - 1) / side); };
        if (device_.is_processor()) return {blocks(block_columns), blocks(block_rows)};
        return {blocks(group) * group, blocks(group) * group};
    }
    bench::Event launch(int i, int steps, cl_event after) {
        const hotspot::Factors factors = hotspot::factors_of(size_);
        const cl_mem power = power_.get(), from = heat_[i % 2].get(), to = heat_[1 - i % 2].get();
        cl_uint index = 0;
        for (const cl_mem& memory : {power, from, to})
            CHECK(clSetKernelArg(kernel_.get(), index++, sizeof memory, &memory));
        for (const int& value : {size_, steps})
            CHECK(clSetKernelArg(kernel_.get(), index++, sizeof value, &value));
        CHECK(clSetKernelArg(kernel_.get(), index++, sizeof factors, &factors));
        const std::array<std::size_t, 2> global = items();
        std::array<std::size_t, 2> local{group, group};
        if (device_.is_processor()) {
            local = {1, 1};
            const int ends[] = {0, size_, size_, static_cast<int>(global[1]), static_cast<int>(global[0])};
            for (const int& end : ends) CHECK(clSetKernelArg(kernel_.get(), index++, sizeof end, &end));
        } else {
            for (const int& end : {size_, size_})
                CHECK(clSetKernelArg(kernel_.get(), index++, sizeof end, &end));
        }
        cl_event done = nullptr;
        CHECK(clEnqueueNDRangeKernel(kernels_.get(), kernel_.get(), 2, nullptr, global.data(), local.data(),
                                     after != nullptr ? 1 : 0, after != nullptr ? &after : nullptr, &done));
        CHECK(clFlush(kernels_.get()));
        return bench::Event(done);
    }
    bench::Event copy(int i, cl_event after) {
        cl_event done = nullptr;
        CHECK(clEnqueueReadBuffer(copies_.get(), heat_[1 - i % 2].get(), CL_FALSE, 0, bytes(),
                                  host_[1 - i % 2].floats(), 1, &after, &done));
        CHECK(clFlush(copies_.get()));
        return bench::Event(done);
    }

    int size_;
    std::size_t count_;
    bench::OpenCl device_;
    bench::Queue kernels_ = device_.queue(), copies_ = device_.queue();
    bench::Kernel kernel_ = device_.kernel(device_.is_processor() ? "HotspotOnProcessor" : "Hotspot");
    bench::Memory power_ = device_.memory(bytes()),
                  heat_[2] = {device_.memory(bytes()), device_.memory(bytes())};
    bench::Pinned host_[2] = {{device_, copies_.get(), bytes()}, {device_, copies_.get(), bytes()}};
    hotspot::Saved saved_;
};

bench::MatrixResult simulate(const bench::MatrixProblem& problem) {
    Simulation simulation(problem);
    const auto iterations = [&](int number) {
        problem.asynchronous ? simulation.asynchronous(number) : simulation.synchronous(number);
    };
    iterations(1); // heat_[0] stays as it is
    const double seconds = bench::seconds_of([&] { iterations(problem.steps); });
    return {seconds, simulation.checksum(), simulation.device()};
}

} // namespace

int main(int argc, char** argv) {
    return bench::matrix_baseline(argc, argv, "Hotspot in plain OpenCL", simulate);
}
