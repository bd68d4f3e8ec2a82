// bench/matrix_pow_opencl.cpp - Matrix Pow in plain OpenCL, on the device with the number `--device` in the
// loader's order. Asynchronously, the product of a step runs beside the copy and the normalisation of those
// before it.
#include "matrices/normalise.hpp"
#include "matrix_baseline.hpp"
#include "multiply.cl.hpp"
#include "opencl_baseline.hpp"

#include <semaphore>
#include <string>
#include <thread>
#include <vector>

namespace {

using bench::Event;
using bench::Kernel;
using bench::Memory;
using bench::Pinned;
using bench::Queue;

/// The kernel and how it divides a matrix.
class Multiplication {
public:
    explicit Multiplication(const bench::OpenCl& device)
        : shape_(device.is_processor() ? Shape{"multiply_on_processor", 16, 1, 4, 32} // as we do
                                       : Shape{"multiply", 16, 16, 8, 8}),
          kernel_(device.kernel(shape_.kernel)) {}

    /// c = a b, all of `n` x `n`.
    [[nodiscard]] Event operator()(cl_command_queue queue, cl_mem a, cl_mem b, cl_mem c, int n,
                                   cl_event after) const {
        const auto items = [n](int item, int group) {
            return (n + item * group - 1) / (item * group) * group;
        };
        const int first = 0, across = items(shape_.item_columns, shape_.group_columns),
                  down = items(shape_.item_rows, shape_.group_rows);
        cl_uint index = 0;
        for (const cl_mem& matrix : {a, b, c})
            CHECK(clSetKernelArg(kernel_.get(), index++, sizeof matrix, &matrix));
        for (const int& number : {first, n, n, n, down, across})
            CHECK(clSetKernelArg(kernel_.get(), index++, sizeof number, &number));
        const std::size_t global[2] = {static_cast<std::size_t>(across), static_cast<std::size_t>(down)};
        const std::size_t local[2] = {static_cast<std::size_t>(shape_.group_columns),
                                      static_cast<std::size_t>(shape_.group_rows)};
        cl_event done = nullptr;
        CHECK(clEnqueueNDRangeKernel(queue, kernel_.get(), 2, nullptr, global, local,
                                     after != nullptr ? 1 : 0, after != nullptr ? &after : nullptr, &done));
        return Event(done);
    }

private:
    struct Shape {
        const char* kernel;
        int group_rows, group_columns, item_rows, item_columns;
    };
    Shape shape_;
    Kernel kernel_;
};

class Powers {
public:
    explicit Powers(const bench::MatrixProblem& problem)
        : n_(problem.size),
          count_(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_)),
          bytes_(count_ * sizeof(float)),
          device_(problem.device, headrace::embedded::multiply_cl),
          multiply_(device_),
          kernels_(device_.queue()),
          copies_(device_.queue()),
          a_(device_.memory(bytes_)),
          c_{device_.memory(bytes_), device_.memory(bytes_)},
          on_host_{{device_, copies_.get(), bytes_}, {device_, copies_.get(), bytes_}},
          normalised_(count_),
          threads_(problem.host_threads) {
        matrices::fill_uniform({on_host_[0].floats(), count_}, 1, 0, 2.0f / static_cast<float>(n_), threads_);
        CHECK(clEnqueueWriteBuffer(copies_.get(), a_.get(), CL_TRUE, 0, bytes_, on_host_[0].floats(), 0,
                                   nullptr, nullptr));
    }

    void synchronously(int steps) {
        cl_mem from = a_.get();
        for (int i = 0; i < steps; ++i) {
            const cl_mem to = c_[i % 2].get();
            const Event multiplied = multiply_(kernels_.get(), from, a_.get(), to, n_, nullptr);
            CHECK(clFinish(kernels_.get()));
            CHECK(clEnqueueReadBuffer(copies_.get(), to, CL_TRUE, 0, bytes_, on_host_[0].floats(), 0, nullptr,
                                      nullptr));
            matrices::normalise({on_host_[0].floats(), count_}, normalised_, threads_);
            from = to;
        }
    }

    void asynchronously(int steps) {
        Event copied[2];
        std::counting_semaphore<2> copying(0), free(2); // host buffers
        std::jthread normaliser([&] {
            for (int i = 0; i < steps; ++i) {
                copying.acquire();
                const cl_event event = copied[i % 2].get();
                if (clWaitForEvents(1, &event) != CL_SUCCESS) std::terminate();
                matrices::normalise({on_host_[i % 2].floats(), count_}, normalised_, threads_);
                free.release();
            }
        });
        cl_mem from = a_.get();
        for (int i = 0; i < steps; ++i) {
            const cl_mem to = c_[i % 2].get();
            const Event multiplied = multiply_(kernels_.get(), from, a_.get(), to, n_, copied[i % 2].get());
            CHECK(clFlush(kernels_.get()));
            free.acquire();
            const cl_event after = multiplied.get();
            cl_event done = nullptr;
            CHECK(clEnqueueReadBuffer(copies_.get(), to, CL_FALSE, 0, bytes_, on_host_[i % 2].floats(), 1,
                                      &after, &done));
            CHECK(clFlush(copies_.get()));
            copied[i % 2].reset(done);
            copying.release();
            from = to;
        }
    }

    [[nodiscard]] double checksum() { return matrices::checksum(normalised_, threads_); }
    [[nodiscard]] std::string device() const { return device_.name(); }

private:
    const int n_;
    const std::size_t count_, bytes_;
    bench::OpenCl device_;
    Multiplication multiply_;
    Queue kernels_, copies_;
    Memory a_, c_[2];
    Pinned on_host_[2];
    std::vector<float> normalised_;
    matrices::HostThreads threads_;
};

bench::MatrixResult raise(const bench::MatrixProblem& problem) {
    Powers powers(problem);
    const auto steps = [&](int number) {
        problem.asynchronous ? powers.asynchronously(number) : powers.synchronously(number);
    };
    steps(2); // drivers allocate at first use
    const double seconds = bench::seconds_of([&] { steps(problem.steps); });
    return {seconds, powers.checksum(), powers.device()};
}

} // namespace

int main(int argc, char** argv) {
    return bench::matrix_baseline(argc, argv, "Matrix Pow in plain OpenCL", raise);
}
