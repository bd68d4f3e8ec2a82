// apps/coexec/problem.hpp - what the program asks of each of its problems: inputs, a job, a serial version.
#pragma once
#include "verdict.hpp"
#include <headrace/headrace.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace coexec {

/// What a problem is made of. Each takes what concerns it.
struct Settings {
    std::uint64_t size = 0; ///< elements of a list, rows of a matrix, pixels of a side
    std::uint64_t seed = 1;
    std::uint32_t filter = 31;                ///< gaussian: pixels across, odd
    std::uint64_t columns = 0, inner = 0;     ///< matmul: c is size x columns, a is size x inner; 0: as size
    bool is_double = false, uses_blas = true; ///< matmul
    std::uint32_t terms = 1000;               ///< taylor
    std::uint32_t iterations = 1000;          ///< mandelbrot: at most, for a pixel
    std::uint32_t spheres = 64, bounces = 5;  ///< ray
};

/// Data of one problem, whose job may run any number of times.
///
/// Lifetime  borrows the runtime that it was made with
/// Threads   one at a time; the calls block while a job uses the data
class Problem {
public:
    virtual ~Problem() = default;
    Problem(const Problem&) = delete; // jobs are made of its members
    Problem& operator=(const Problem&) = delete;

    [[nodiscard]] virtual std::string text() const = 0; ///< "taylor: 1048576 angles, 1000 terms"
    [[nodiscard]] virtual headrace::Job job() const = 0;
    /// Compares every `stride`th result with a serial version of the same, which may take long.
    [[nodiscard]] virtual Verdict verify(std::uint64_t stride) const = 0;

    /// As if no job had run: inputs are to be moved again, results are bytes that no job writes.
    void reset();
    /// Brings the results to the host.
    void collect();
    /// The results on the host, for the caller to change.
    [[nodiscard]] std::vector<std::span<std::byte>> results();

protected:
    explicit Problem(const headrace::Runtime& runtime) : runtime_(runtime) {}

    template <class T>
    headrace::Domain<T> input(const char* name, std::initializer_list<std::uint64_t> extent) {
        auto made = domain<T>(name, extent);
        inputs_.push_back(made.data());
        return made;
    }
    template <class T>
    headrace::Domain<T> result(const char* name, std::initializer_list<std::uint64_t> extent) {
        auto made = domain<T>(name, extent);
        results_.push_back(made.data());
        return made;
    }

private:
    /// Where GPUs copy from and to at full speed.
    template <class T>
    headrace::Domain<T> domain(const char* name, std::initializer_list<std::uint64_t> extent) const {
        std::uint64_t size = sizeof(T);
        for (const std::uint64_t n : extent) size *= n;
        return {name, extent, runtime_.allocate_host(size)};
    }

    const headrace::Runtime& runtime_;
    std::vector<std::shared_ptr<headrace::DomainData>> inputs_, results_;
};

/// Element i of a domain goes with work unit i.
template <class T>
[[nodiscard]] headrace::Slice elements(const headrace::Domain<T>& domain) {
    return headrace::part(domain, [](headrace::IndexRange units) { return units; });
}

/// Uniform in [least, most): the same for the same seed, list and place.
void fill_at_random(std::span<float> numbers, std::uint64_t seed, std::uint32_t list, float least,
                    float most);

/// A kernel in OpenCL C that consumes indices.
[[nodiscard]] headrace::OpenClKernel opencl_kernel(const char* name, std::string_view source,
                                                   std::string options = {});

} // namespace coexec
