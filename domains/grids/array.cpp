// domains/grids/array.cpp - see array.hpp.
#include <headrace/domains/grids/array.hpp>

#include <limits>

namespace headrace {

Shape Sizes::shape_of(const std::string& name) const {
    const auto refuse = [&](const std::string& why) {
        throw Error{ErrorKind::invalid_argument, "the array '" + name + "' " + why};
    };
    const std::span sizes(grid_.end, static_cast<std::size_t>(grid_.rank));
    std::int64_t size = 1;
    for (const std::int64_t length : sizes) {
        if (length <= 0) refuse("has a size of " + std::to_string(length));
        if (__builtin_mul_overflow(size, length, &size)) refuse("is larger than any memory");
    }
    Shape shape{size, sizes.front(), 1, 1};
    if (sizes.size() == 1) return shape;
    // Kernels multiply all indices except the fastest in 32 bits.
    constexpr std::int64_t limit = std::numeric_limits<int>::max();
    const std::int64_t columns = sizes.back(), rows = sizes[sizes.size() - 2];
    if (columns > limit || size / columns > limit)
        refuse("has more than " + std::to_string(limit) + " rows or columns");
    shape.rows = static_cast<int>(rows);
    shape.columns = static_cast<int>(columns);
    return shape;
}

} // namespace headrace
