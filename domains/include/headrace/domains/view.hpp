// domains/view.hpp - domains as kernels see them: by global indices, wherever a task's part begins. Views
// borrow, are trivially copyable and go to kernels by value. Compiled for every technology.
#pragma once
#include <headrace/devices/kernels/macros.hpp>
#include <headrace/domains/bounds.hpp>
#include <headrace/domains/detail/lane_slots.hpp>
#include <headrace/domains/summable.hpp>
#include <headrace/persistent/atomics.hpp>

#include <cstddef>
#include <cstdint>

namespace headrace {

/// Sizes of a domain or an index space, slowest dimension first; 1 for a dimension that is not used.
struct Extent {
    std::uint64_t n[3] = {1, 1, 1};
    HEADRACE_HOST_DEVICE constexpr std::uint64_t size() const { return n[0] * n[1] * n[2]; }
};

/// Elements of a domain, row-major. `View<const T>` for reading, `View<T>` for writing and updating.
///
/// A kernel may touch only the part that the task declared. Indices are those of the whole domain.
template <class T>
struct View {
    T* origin = nullptr; ///< address of element 0, which may lie outside the memory
    Extent extent;
    HEADRACE_BOUNDS

    HEADRACE_HOST_DEVICE T& operator[](std::uint64_t i) const { return origin[detail::index_in(*this, i)]; }
    HEADRACE_HOST_DEVICE T& operator()(std::uint64_t i, std::uint64_t j) const {
        return origin[detail::index_in(*this, i, j)];
    }
    HEADRACE_HOST_DEVICE T& operator()(std::uint64_t i, std::uint64_t j, std::uint64_t k) const {
        return origin[detail::index_in(*this, i, j, k)];
    }
    HEADRACE_HOST_DEVICE std::uint64_t size() const { return extent.size(); }
};

/// A domain under scatter access: any lane writes any element; at most one lane writes each. It cannot be
/// read: the contents on a device depend on what that device wrote.
template <class T>
struct Scatter {
    T* origin = nullptr; ///< of this device's private replica
    Extent extent;
    HEADRACE_BOUNDS

    /// Takes a value for one element.
    struct Element {
        T* at;
        HEADRACE_HOST_DEVICE void operator=(const T& value) const { *at = value; }
    };

    HEADRACE_HOST_DEVICE Element operator[](std::uint64_t i) const {
        return {origin + detail::index_in(*this, i)};
    }
    HEADRACE_HOST_DEVICE Element operator()(std::uint64_t i, std::uint64_t j) const {
        return {origin + detail::index_in(*this, i, j)};
    }
    HEADRACE_HOST_DEVICE Element operator()(std::uint64_t i, std::uint64_t j, std::uint64_t k) const {
        return {origin + detail::index_in(*this, i, j, k)};
    }
    HEADRACE_HOST_DEVICE std::uint64_t size() const { return extent.size(); }
};

/// A domain under accumulate access: this device's private replica. It begins as zeroes; any lane adds to it.
///
/// T is a number that every technology adds atomically (float, double, signed and unsigned integers of 32 and
/// 64 bits), or a struct of such numbers, all of one type `T::Scalar`.
///
/// Each addition to a float or double sum is rounded, in the order in which lanes add: the last bits may
/// differ between runs. `Sum<ExactSum<float>>` and `Sum<ExactSum<double>>` (exact_sum.hpp) are rounded once
/// and do not differ. Operations other than addition: reduction.hpp.
template <class T>
struct Sum {
    static_assert(check_summable<T>());

    T* origin = nullptr; ///< a kernel may also add here with its own atomic operation
    Extent extent;
    detail::LaneSlots slots = {};
    HEADRACE_BOUNDS

    HEADRACE_HOST_DEVICE void add(std::uint64_t i, const T& amount) const {
        T& sum = *slots.own(origin + detail::index_in(*this, i));
        if constexpr (requires { typename T::Scalar; }) {
            using Scalar = typename T::Scalar;
            auto* to = reinterpret_cast<Scalar*>(&sum);
            const auto* from = reinterpret_cast<const Scalar*>(&amount);
            for (unsigned part = 0; part < sizeof(T) / sizeof(Scalar); ++part)
                atomic_add(to[part], from[part]);
        } else {
            atomic_add(sum, amount);
        }
    }
    HEADRACE_HOST_DEVICE std::uint64_t size() const { return extent.size(); }
};

} // namespace headrace
