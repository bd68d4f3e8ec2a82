// domains/grids/array.hpp - typed data of the controller level: a Storage with an element type and a shape.
#pragma once
#include <headrace/core/controller.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/storage.hpp>
#include <headrace/domains/grids/roles.hpp>

#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace headrace {

/// Sizes of an array, slowest dimension first: `{rows, columns}`, or those of a grid.
class HEADRACE_EXPORT Sizes {
public:
    template <std::integral... N>
    Sizes(N... n) : Sizes(grid(n...)) {} // NOLINT: braces convert
    template <int Rank>
    Sizes(const Grid<Rank>& like) : grid_(like) {} // NOLINT: a grid has the sizes of its arrays

    /// Throws invalid_argument for sizes that are not positive or too large for the indices of kernels.
    [[nodiscard]] Shape shape_of(const std::string& name) const;

private:
    AnyGrid grid_;
};

template <class T>
class Part;

/// `T` elements in 1 to 3 dimensions, row-major: `Array<float> a("a", {rows, columns})`.
///
/// Host memory  owned; or borrowed from the caller (the contents count as written); or pinned by a device,
///              which copies from and to it at full speed; or none, with `internal`
/// Threads      any. The destructor waits for every request on the array
/// Errors       invalid_argument for a size that is not positive or too large; out_of_memory
template <class T>
class Array {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                  "arrays move between memories as bytes");

public:
    using Element = T;

    Array(std::string name, Sizes sizes, T* borrowed = nullptr)
        : shape_(sizes.shape_of(name)), storage_(std::move(name), bytes(), borrowed) {}
    Array(std::string name, Sizes sizes, Internal)
        : shape_(sizes.shape_of(name)), storage_(std::move(name), bytes(), internal) {}
    /// In host memory that `device` pins. The device must outlive the array.
    Array(std::string name, Sizes sizes, Device& device)
        : shape_(sizes.shape_of(name)), storage_(std::move(name), bytes(), device.allocate_host(bytes())) {}

    [[nodiscard]] const std::string& name() const noexcept { return storage_.name(); }
    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    [[nodiscard]] std::int64_t size() const noexcept { return shape_.size; }
    [[nodiscard]] Storage& storage() const noexcept { return storage_; }
    /// The whole array.
    [[nodiscard]] Tile tile() const { return storage_.tile(); }

    /// The elements on the host, up to date. Blocks. Throws the failure of their last writer.
    [[nodiscard]] std::span<const T> gather() const {
        headrace::gather(tile()).wait();
        return host();
    }
    /// The host's elements, for the caller to write at once; all other replicas are then out of date.
    /// Elements that are not written keep their values. Blocks like gather.
    [[nodiscard]] std::span<T> fill() {
        take_to_host(tile());
        return host();
    }

private:
    [[nodiscard]] Bytes bytes() const noexcept { return static_cast<Bytes>(shape_.size) * sizeof(T); }
    [[nodiscard]] std::span<T> host() const {
        return {static_cast<T*>(storage_.host()), static_cast<std::size_t>(shape_.size)};
    }

    Shape shape_;
    mutable Storage storage_; // `const` protects the elements; reads may move them between memories
};

/// Consecutive elements of an array, for a request of their own; made by `rows`. Indices are those of the
/// whole array, which must outlive the part. `T` is const if the array was.
template <class T>
class Part {
public:
    using Whole = std::conditional_t<std::is_const_v<T>, const Array<std::remove_const_t<T>>, Array<T>>;

    /// [first, last) of the slowest dimension.
    Part(Whole& whole, std::int64_t first, std::int64_t last)
        : whole_(whole), tile_(whole.storage(), offset(first), offset(last)) {}

    [[nodiscard]] Whole& whole() const noexcept { return whole_; }
    [[nodiscard]] Tile tile() const noexcept { return tile_; }

private:
    [[nodiscard]] Bytes offset(std::int64_t slice) const {
        return static_cast<Bytes>(slice) *
               (whole_.storage().bytes() / static_cast<Bytes>(whole_.shape().slices));
    }

    Whole& whole_;
    Tile tile_;
};

/// [first, last) of the slowest dimension: rows of a matrix, planes of a volume.
template <class T>
[[nodiscard]] Part<T> rows(Array<T>& whole, std::int64_t first, std::int64_t last) {
    return {whole, first, last};
}
template <class T>
[[nodiscard]] Part<const T> rows(const Array<T>& whole, std::int64_t first, std::int64_t last) {
    return {whole, first, last};
}

} // namespace headrace
