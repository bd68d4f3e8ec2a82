// domains/grids/implementations.hpp - several implementations of one kernel; each run uses the one that fits
// its device best. Contains what headrace_add_grid_kernels generates for a kernel and what programs add to
// it.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/devices/kernels/registry.hpp>
#include <headrace/domains/grids/detail/type_name.hpp>
#include <headrace/domains/grids/index.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace headrace {

/// The members of a kernel, in their order, as OpenCL C gets them: an array's cl_mem, a number's bytes.
using KernelMembers = std::vector<std::span<const std::byte>>;
/// Returns views of the kernel's members.
template <class Kernel>
using MembersOf = KernelMembers (*)(const Kernel&);

/// The devices that an implementation is for.
struct Fit {
    std::string technology;     ///< "cpu", "cuda", "hip" or "opencl"
    std::string architecture{}; ///< "sm_90", or a kind of device: "gpu"; empty: any

    /// 0: does not fit. The implementation with the largest value is used.
    [[nodiscard]] int goodness(const DeviceInfo& device) const {
        if (technology != device.technology) return 0;
        if (architecture.empty()) return 1;
        if (architecture == to_string(device.kind)) return 2;
        return architecture == device.architecture ? 3 : 0;
    }
};

namespace detail {
/// Throws why `kernel` cannot run on `device`, with a list of the implementations.
[[noreturn]] HEADRACE_EXPORT void throw_no_implementation(std::string_view kernel, const DeviceInfo& device,
                                                          std::span<const Fit> there_are);
} // namespace detail

/// The implementations of `Kernel`, by device. Copies are independent.
///
/// Threads: any may read. If two implementations fit equally well, the one added last is used.
template <class Kernel>
class Implementations {
public:
    /// Enqueues the kernel on a device's stream. Called once a run, under the rules of Stream::Body.
    using Run = std::function<void(const Kernel&, const AnyGrid&, MembersOf<Kernel>, const NativeStream&)>;

    /// Adds a function that launches its own work on the device's stream, with the kernel's members:
    /// `run(const Kernel&, Grid<2>, const NativeStream&)`. For shared-memory kernels, cuBLAS, a BLAS.
    template <class Function>
    Implementations& on(std::string technology, Function run) {
        return on(Fit{std::move(technology)}, std::move(run));
    }
    /// The same for one architecture ("sm_90") or kind ("gpu") of a technology.
    template <class Function>
    Implementations& on(std::string technology, std::string architecture, Function run) {
        return on(Fit{std::move(technology), std::move(architecture)}, std::move(run));
    }
    template <class Function>
    Implementations& on(Fit fit, Function run) {
        return add(std::move(fit), erase(std::move(run)));
    }

    Implementations& add(Fit fit, Run run) {
        fits_.push_back(std::move(fit));
        runs_.push_back(std::make_shared<const Run>(std::move(run)));
        return *this;
    }
    Implementations& add(const Implementations& others) {
        fits_.insert(fits_.end(), others.fits_.begin(), others.fits_.end());
        runs_.insert(runs_.end(), others.runs_.begin(), others.runs_.end());
        return *this;
    }

    /// The implementation for a device. Throws unsupported, with kernel, device and a list, if none fits.
    [[nodiscard]] std::shared_ptr<const Run> choose(const DeviceInfo& device) const {
        int best = 0;
        const std::shared_ptr<const Run>* chosen = nullptr;
        for (std::size_t i = 0; i < runs_.size(); ++i)
            if (const int good = fits_[i].goodness(device); good > 0 && good >= best) {
                best = good;
                chosen = &runs_[i];
            }
        if (chosen == nullptr) detail::throw_no_implementation(type_name<Kernel>(), device, fits_);
        return *chosen;
    }

private:
    template <class Function>
    static Run erase(Function run) {
        constexpr bool on_1 = std::is_invocable_v<Function&, const Kernel&, Grid<1>, const NativeStream&>;
        constexpr bool on_2 = std::is_invocable_v<Function&, const Kernel&, Grid<2>, const NativeStream&>;
        constexpr bool on_3 = std::is_invocable_v<Function&, const Kernel&, Grid<3>, const NativeStream&>;
        static_assert(on_1 || on_2 || on_3,
                      "an implementation is called with (const Kernel&, Grid<2>, const NativeStream&)");
        constexpr int rank = index_rank<Kernel> != 0 ? index_rank<Kernel> : on_1 ? 1 : on_2 ? 2 : 3;
        static_assert(rank == 1   ? on_1
                      : rank == 2 ? on_2
                                  : on_3,
                      "an implementation takes grids of as many dimensions as the kernel's index");
        return [run = std::move(run)](const Kernel& kernel, const AnyGrid& grid, MembersOf<Kernel>,
                                      const NativeStream& stream) { run(kernel, grid.as<rank>(), stream); };
    }

    std::vector<Fit> fits_;
    std::vector<std::shared_ptr<const Run>> runs_; // shared with unfinished launches
};

/// The form of a kernel over a grid: see devices/kernels/registry.hpp.
template <class Kernel>
struct GridKernel {
    using Compiled = Implementations<Kernel>;
};

/// All that headrace_add_grid_kernels compiled of `Kernel`.
template <class Kernel>
[[nodiscard]] const Implementations<Kernel>& implementations() {
    static const Implementations<Kernel> all = [] {
        Implementations<Kernel> found;
        for (const char* technology : technology::of_cpp)
            found.add(compiled_for<GridKernel<Kernel>>(technology));
        found.add(compiled_for<technology::OpenCl, GridKernel<Kernel>>());
        return found;
    }();
    return all;
}

namespace detail {
template <class Kernel>
inline constexpr int rank_or_1 = index_rank<Kernel> == 0 ? 1 : index_rank<Kernel>;

/// Return value of a generated unit: the generic source if the kernel has a call operator, and what the
/// user's `specialise(technology, implementations)`, if it exists, adds.
template <class Technology, class Kernel, class Generic>
[[nodiscard]] Implementations<Kernel> compiled(Generic generic) {
    Implementations<Kernel> all;
    if constexpr (index_rank<Kernel> != 0) all.on(Technology::name, generic);
    if constexpr (requires { specialise(Technology{}, all); }) specialise(Technology{}, all);
    return all;
}
} // namespace detail

} // namespace headrace
