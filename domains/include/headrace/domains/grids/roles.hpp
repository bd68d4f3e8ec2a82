// domains/grids/roles.hpp - the views of arrays in kernels and host tasks. The type of a view is its role:
// it declares what a kernel may do with the data, and other uses do not compile. Compiled for every
// technology.
#pragma once
#include <headrace/core/access.hpp>
#include <headrace/domains/grids/index.hpp>
#include <headrace/domains/grids/texture_view.hpp>

#include <cstdint>
#include <type_traits>

namespace headrace {

/// Sizes of an array. 32 bits for dimensions that are multiplied, as in Index.
struct Shape {
    std::int64_t size = 0;     ///< all elements
    std::int64_t slices = 0;   ///< of the slowest dimension
    int rows = 1, columns = 1; ///< of the two fastest, if there are two
};

/// An element that can be assigned but not read.
template <class T>
class Assignable {
public:
    HEADRACE_HOST_DEVICE explicit Assignable(T& at) : at_(at) {}
    Assignable(const Assignable&) = delete; // it represents one element, in one expression
    HEADRACE_HOST_DEVICE void operator=(const Assignable& other) = delete;
    HEADRACE_HOST_DEVICE void operator=(const T& value) const { at_ = value; }

private:
    T& at_;
};

/// Elements of an array, row-major: the common part of all roles. No default constructor: a launch with too
/// few arrays does not compile.
template <class Pointee, class Reference>
class Elements {
public:
    using Element = std::remove_const_t<Pointee>;

    HEADRACE_HOST_DEVICE Elements(Pointee* data, Shape shape) : data_(data), shape_(shape) {}

    HEADRACE_HOST_DEVICE Reference operator()(std::int64_t i) const { return Reference(data_[i]); }
    HEADRACE_HOST_DEVICE Reference operator()(int i, int j) const {
        return (*this)(static_cast<std::int64_t>(i) * shape_.columns + j);
    }
    HEADRACE_HOST_DEVICE Reference operator()(int i, int j, int k) const {
        return (*this)(i * shape_.rows + j, k);
    }
    HEADRACE_HOST_DEVICE Reference operator[](Index<1> at) const { return (*this)(at.x); }
    HEADRACE_HOST_DEVICE Reference operator[](Index<2> at) const { return (*this)(at.y, at.x); }
    HEADRACE_HOST_DEVICE Reference operator[](Index<3> at) const { return (*this)(at.z, at.y, at.x); }

    /// The neighbour so many steps away, or the last element before the edge: near(at, 0, -1) in the first
    /// column is that column. `at` lies in the array.
    HEADRACE_HOST_DEVICE Reference near(Index<1> at, int dx) const {
        return (*this)(step(at.x, dx, shape_.size));
    }
    HEADRACE_HOST_DEVICE Reference near(Index<2> at, int dy, int dx) const {
        return (*this)(step(at.y, dy, shape_.rows), step(at.x, dx, shape_.columns));
    }
    HEADRACE_HOST_DEVICE Reference near(Index<3> at, int dz, int dy, int dx) const {
        return (*this)(step(at.z, dz, static_cast<int>(shape_.slices)), step(at.y, dy, shape_.rows),
                       step(at.x, dx, shape_.columns));
    }
    HEADRACE_HOST_DEVICE Reference near(InnerIndex<1> at, int dx) const { return (*this)(at.x + dx); }
    HEADRACE_HOST_DEVICE Reference near(InnerIndex<2> at, int dy, int dx) const {
        return (*this)(at.y + dy, at.x + dx);
    }
    HEADRACE_HOST_DEVICE Reference near(InnerIndex<3> at, int dz, int dy, int dx) const {
        return (*this)(at.z + dz, at.y + dy, at.x + dx);
    }

    /// Sizes of the whole array, even if only a part is used.
    [[nodiscard]] HEADRACE_HOST_DEVICE std::int64_t size() const { return shape_.size; }
    [[nodiscard]] HEADRACE_HOST_DEVICE int rows() const { return shape_.rows; }
    [[nodiscard]] HEADRACE_HOST_DEVICE int columns() const { return shape_.columns; }

    /// Address of element 0, for libraries; on OpenCL the cl_mem.
    [[nodiscard]] HEADRACE_HOST_DEVICE Pointee* data() const { return data_; }
    [[nodiscard]] Pointee* begin() const { return data_; }
    [[nodiscard]] Pointee* end() const { return data_ + shape_.size; }

private:
    /// Steps are almost always constants; then two of the three cases are removed.
    template <class Int>
    HEADRACE_HOST_DEVICE static Int step(Int i, int by, Int size) {
        if (by == 0) return i;
        const Int to = i + by;
        if (by < 0) return to < 0 ? 0 : to;
        return to < size ? to : size - 1;
    }

    Pointee* data_;
    Shape shape_;
};

/// Reads.
template <class T>
struct In : Elements<const T, const T&> {
    static constexpr Access access = Access::read;
    using Elements<const T, const T&>::Elements;
};

/// Writes all elements; nothing is fetched before. Elements that are not written are then undefined.
template <class T>
struct Write : Elements<T, Assignable<T>> {
    static constexpr Access access = Access::write;
    using Elements<T, Assignable<T>>::Elements;
};

/// Writes elements, perhaps not all: the others keep their values, so they are fetched before.
template <class T>
struct Out : Elements<T, Assignable<T>> {
    static constexpr Access access = Access::update;
    using Elements<T, Assignable<T>>::Elements;
};

/// Reads and writes.
template <class T>
struct Io : Elements<T, T&> {
    static constexpr Access access = Access::update;
    using Elements<T, T&>::Elements;
};

/// True for In, Out, Io, Write, and TextureView, which only reads.
template <class T>
inline constexpr bool is_role = false;
template <class T>
inline constexpr bool is_role<In<T>> = true;
template <class T>
inline constexpr bool is_role<Write<T>> = true;
template <class T>
inline constexpr bool is_role<Out<T>> = true;
template <class T>
inline constexpr bool is_role<Io<T>> = true;
template <>
inline constexpr bool is_role<TextureView> = true;

} // namespace headrace
