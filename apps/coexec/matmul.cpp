// apps/coexec/matmul.cpp - the product of two matrices: regular, by each vendor's BLAS where there is one.
#include "matmul.kernels.hpp"
#include "matrices.hpp"
#include "matrices/host_multiply.hpp"
#include "problems.hpp"
#include <headrace/devices/cpu/arena.hpp>

#include "matmul.cl.hpp"

#include <type_traits>
#include <utility>
#include <vector>

namespace coexec {
namespace {

using headrace::NativeStream;
using headrace::Task;

/// Rows of a task at least: what libraries compute one after another on a processor is worth a call.
constexpr std::uint64_t least_rows = 64;

template <class Real>
class MatMul final : public Problem {
public:
    MatMul(const Settings& settings, const headrace::Runtime& runtime)
        : MatMul(settings, runtime, settings.columns != 0 ? settings.columns : settings.size,
                 settings.inner != 0 ? settings.inner : settings.size) {}

    [[nodiscard]] std::string text() const override {
        const auto size = [](std::uint64_t rows, std::uint64_t columns) {
            return std::to_string(rows) + " x " + std::to_string(columns);
        };
        return "matmul: " + size(matrices_.rows(), matrices_.inner()) + " times " +
               size(matrices_.inner(), matrices_.columns()) +
               (std::is_same_v<Real, double> ? ", double" : ", single");
    }

    [[nodiscard]] headrace::Job job() const override {
        headrace::Job job("matmul", matrices_.c.size());
        job.kernel_name(std::string("matmul") + (std::is_same_v<Real, double> ? ", double" : ", single") +
                        (libraries_.empty() ? ", kernels" : ""))
            .reads(rows(matrices_.a), matrices_.b)
            .writes(rows(matrices_.c))
            .grain(least_rows * matrices_.columns())
            .kernel([m = matrices_](Task& task) {
                return Multiply<Real>{task.read(m.a), task.read(m.b), task.write(m.c)};
            })
            .opencl(opencl_kernel("matmul.cl", headrace::embedded::matmul_cl,
                                  std::is_same_v<Real, double> ? "-DREAL=double" : "-DREAL=float"),
                    [m = matrices_](Task& task, headrace::OpenClArguments& arguments) {
                        arguments.buffer(task.memory(m.a))
                            .buffer(task.memory(m.b))
                            .buffer(task.memory(m.c))
                            .value(m.columns())
                            .value(m.inner());
                    });
        if constexpr (std::is_same_v<Real, float>) job.host_function("cpu", multiply_in_tiles(matrices_));
        for (const auto& [technology, multiply] : libraries_) job.host_function(technology, multiply);
        return job;
    }

    [[nodiscard]] Verdict verify(std::uint64_t stride) const override {
        Verdict verdict;
        const auto a = matrices_.a.gather(), b = matrices_.b.gather(), c = matrices_.c.gather();
        const std::uint64_t columns = matrices_.columns(), inner = matrices_.inner();
        constexpr bool is_double = std::is_same_v<Real, double>;
        // Products are of variance 1/9 at most and of either sign, so sums grow as the root of their number,
        // and the deviation of what so many roundings add up to is a seventh of inner times one. More than
        // ten of it are no chance.
        const double allowed = 2 * (static_cast<double>(inner) + 8) * (is_double ? 0x1p-53 : 0x1p-24);
        std::vector<double> row(columns);
        for (std::uint64_t i = 0; i < matrices_.rows(); ++i) {
            // A row at a time, so that b is read in its order.
            const std::uint64_t first = (i * columns + stride - 1) / stride * stride;
            if (first >= (i + 1) * columns) continue;
            row.assign(columns, 0);
            for (std::uint64_t k = 0; k < inner; ++k)
                for (std::uint64_t j = 0; j < columns; ++j)
                    row[j] += double{a[i * inner + k]} * double{b[k * columns + j]};
            for (std::uint64_t at = first; at < (i + 1) * columns; at += stride)
                verdict.compare("element", at, c[at], row[at - i * columns], allowed);
        }
        return verdict;
    }

private:
    MatMul(const Settings& settings, const headrace::Runtime& runtime, std::uint64_t columns,
           std::uint64_t inner)
        : Problem(runtime),
          matrices_{input<Real>("a", {settings.size, inner}), input<Real>("b", {inner, columns}),
                    result<Real>("c", {settings.size, columns})} {
        fill(matrices_.a.fill(), settings.seed, 0);
        fill(matrices_.b.fill(), settings.seed, 1);
        if (settings.uses_blas) use_libraries();
    }

    static void fill(std::span<Real> elements, std::uint64_t seed, std::uint32_t list) {
        if constexpr (std::is_same_v<Real, float>) {
            fill_at_random(elements, seed, list, -1, 1);
        } else {
            std::vector<float> numbers(elements.size());
            fill_at_random(numbers, seed, list, -1, 1);
            for (std::size_t i = 0; i < numbers.size(); ++i)
                elements[i] = double{numbers[i]} / 3; // all digits are used
        }
    }

    /// What headrace-matrix-pow multiplies with on processors.
    static HostFunction multiply_in_tiles(const Matrices<float>& matrices) {
        return [m = matrices](Task& task, const NativeStream& stream) {
            const Rows part = rows_of(task, m);
            const matrices::HostProduct product{task.read(m.a).origin + part.first * m.inner(),
                                                task.read(m.b).origin,
                                                task.write(m.c).origin + part.first * m.columns(),
                                                static_cast<int>(part.count),
                                                static_cast<int>(m.columns()),
                                                static_cast<int>(m.inner())};
            static_cast<headrace::CpuArena*>(stream.stream)->run(product.tiles(), [&](unsigned tile) {
                product.multiply(tile);
            });
        };
    }

    /// Once: they keep handles of their library.
    void use_libraries() {
#if defined(COEXEC_HAS_OPENBLAS)
        libraries_.emplace_back("cpu", multiply_by_openblas(matrices_));
#endif
#if defined(COEXEC_HAS_CUBLAS)
        libraries_.emplace_back("cuda", multiply_by_cublas(matrices_));
#endif
#if defined(COEXEC_HAS_ROCBLAS)
        libraries_.emplace_back("hip", multiply_by_rocblas(matrices_));
#endif
#if defined(COEXEC_HAS_CLBLAST)
        libraries_.emplace_back("opencl", multiply_by_clblast(matrices_));
#endif
    }

    Matrices<Real> matrices_;
    std::vector<std::pair<const char*, HostFunction>> libraries_; ///< by technology
};

} // namespace

std::unique_ptr<Problem> make_matmul(const Settings& settings, const headrace::Runtime& runtime) {
    if (settings.is_double) return std::make_unique<MatMul<double>>(settings, runtime);
    return std::make_unique<MatMul<float>>(settings, runtime);
}

} // namespace coexec
