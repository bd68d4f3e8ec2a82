// apps/path_tracer/split.cpp - see split.hpp.
#include "split.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <array>

namespace path_tracer {
namespace {

constexpr unsigned bins = 32;
constexpr std::size_t worth_a_thread = 4096; // references

/// A part of a node's extent along one axis.
struct Bin {
    Box box;
    uint32_t begins = 0, ends = 0; ///< references, here

    void add(const Bin& other) {
        box.add(other.box);
        begins += other.begins;
        ends += other.ends;
    }
};

struct Histogram {
    std::array<std::array<Bin, bins>, 3> axes;

    void add(const Histogram& other) {
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (std::size_t bin = 0; bin < bins; ++bin) axes[axis][bin].add(other.axes[axis][bin]);
    }
};

/// Sums up body(part) over all parts, the same on any number of threads.
template <class Result, class Body>
Result sum_over(std::span<const Reference> references, const Body& body) {
    if (references.size() < worth_a_thread) return body(references, Result{});
    return tbb::parallel_deterministic_reduce(
        tbb::blocked_range<std::size_t>(0, references.size(), worth_a_thread), Result{},
        [&](const auto& range, Result so_far) {
            return body(references.subspan(range.begin(), range.size()), std::move(so_far));
        },
        [](Result a, const Result& b) {
            a.add(b);
            return a;
        });
}

/// Equal bins between two planes.
struct Ruler {
    float begin, width;

    Ruler(const Box& extent, int axis)
        : begin(along(extent.lo, axis)), width((along(extent.hi, axis) - begin) / bins) {}
    [[nodiscard]] bool is_flat() const { return !(width > 0); }
    [[nodiscard]] unsigned bin_of(float place) const {
        const float bin = (place - begin) / width;
        return bin < 1 ? 0 : std::min(static_cast<unsigned>(bin), bins - 1);
    }
    /// Between the bins `bin` - 1 and `bin`.
    [[nodiscard]] float plane(unsigned bin) const { return begin + width * static_cast<float>(bin); }
};

/// The cheapest place between two bins, if it beats `best`. Both sides have to be shorter than `all`.
void improve(Split& best, const std::array<Bin, bins>& row, int axis, const Ruler& ruler, uint32_t all,
             bool cuts_references) {
    std::array<Box, bins> boxes_above;
    std::array<uint32_t, bins> count_above{};
    Box box;
    uint32_t count = 0;
    for (unsigned i = bins - 1; i > 0; --i) {
        box.add(row[i].box);
        count += row[i].ends;
        boxes_above[i] = box;
        count_above[i] = count;
    }
    box = {};
    count = 0;
    for (unsigned i = 1; i < bins; ++i) {
        box.add(row[i - 1].box);
        count += row[i - 1].begins;
        if (count == 0 || count == all || count_above[i] == 0 || count_above[i] == all) continue;
        const float cost = box.half_area() * static_cast<float>(count) +
                           boxes_above[i].half_area() * static_cast<float>(count_above[i]);
        if (cost >= best.cost) continue;
        Box shared = box;
        shared.clip_to(boxes_above[i]);
        best = {cost, axis, ruler.plane(i), cuts_references, shared.is_empty() ? 0 : shared.half_area()};
    }
}

/// Of the three axes.
Split cheapest(const Histogram& histogram, const Ruler (&rulers)[3], std::size_t references,
               bool cuts_references) {
    Split best;
    for (int axis = 0; axis < 3; ++axis)
        if (!rulers[axis].is_flat())
            improve(best, histogram.axes[static_cast<std::size_t>(axis)], axis, rulers[axis],
                    static_cast<uint32_t>(references), cuts_references);
    return best;
}

} // namespace

Bounds bounds_of(std::span<const Reference> references) {
    return sum_over<Bounds>(references, [](std::span<const Reference> part, Bounds sum) {
        for (const Reference& reference : part) {
            sum.box.add(reference.box);
            sum.centres.add(Float3{reference.centre(0), reference.centre(1), reference.centre(2)});
        }
        return sum;
    });
}

Split object_split(std::span<const Reference> references, const Bounds& bounds) {
    const Ruler rulers[3] = {{bounds.centres, 0}, {bounds.centres, 1}, {bounds.centres, 2}};
    const auto histogram =
        sum_over<Histogram>(references, [&](std::span<const Reference> part, Histogram sum) {
            for (const Reference& reference : part)
                for (int axis = 0; axis < 3; ++axis) {
                    if (rulers[axis].is_flat()) continue;
                    const unsigned bin = rulers[axis].bin_of(reference.centre(axis));
                    sum.axes[static_cast<std::size_t>(axis)][bin].add({reference.box, 1, 1});
                }
            return sum;
        });
    return cheapest(histogram, rulers, references.size(), false);
}

Split spatial_split(std::span<const Reference> references, const Bounds& bounds, const Shapes& shapes) {
    const Ruler rulers[3] = {{bounds.box, 0}, {bounds.box, 1}, {bounds.box, 2}};
    const auto histogram =
        sum_over<Histogram>(references, [&](std::span<const Reference> part, Histogram sum) {
            for (const Reference& reference : part)
                for (int axis = 0; axis < 3; ++axis) {
                    const Ruler& ruler = rulers[axis];
                    if (ruler.is_flat()) continue;
                    auto& row = sum.axes[static_cast<std::size_t>(axis)];
                    const unsigned first = ruler.bin_of(along(reference.box.lo, axis)),
                                   last = ruler.bin_of(along(reference.box.hi, axis));
                    ++row[first].begins;
                    ++row[last].ends;
                    Reference rest = reference;
                    for (unsigned bin = first; bin < last; ++bin) {
                        auto [below, above] = shapes.cut(rest, axis, ruler.plane(bin + 1));
                        row[bin].box.add(below.box);
                        rest = above;
                    }
                    row[last].box.add(rest.box);
                }
            return sum;
        });
    return cheapest(histogram, rulers, references.size(), true);
}

Sides divide(std::vector<Reference> references, const Split& split, const Shapes& shapes, std::size_t most) {
    Sides sides;
    if (!split.cuts_references) {
        const auto first_above =
            std::partition(references.begin(), references.end(),
                           [&](const Reference& r) { return r.centre(split.axis) < split.plane; });
        sides.above.assign(first_above, references.end());
        references.erase(first_above, references.end());
        sides.below = std::move(references);
        return sides;
    }
    std::vector<Reference> across;
    Box below, above;
    for (const Reference& reference : references) {
        if (along(reference.box.hi, split.axis) <= split.plane) {
            sides.below.push_back(reference);
            below.add(reference.box);
        } else if (along(reference.box.lo, split.axis) >= split.plane) {
            sides.above.push_back(reference);
            above.add(reference.box);
        } else {
            across.push_back(reference);
        }
    }
    // A reference that is not worth two goes to one side as a whole.
    std::size_t spare = most - references.size();
    float count_below = static_cast<float>(sides.below.size() + across.size()),
          count_above = static_cast<float>(sides.above.size() + across.size());
    std::vector<std::pair<Reference, Reference>> parts;
    for (const Reference& reference : across) {
        parts.push_back(shapes.cut(reference, split.axis, split.plane));
        below.add(parts.back().first.box);
        above.add(parts.back().second.box);
    }
    for (std::size_t i = 0; i < across.size(); ++i) {
        const auto& [part_below, part_above] = parts[i];
        const float both = below.half_area() * count_below + above.half_area() * count_above;
        const float only_below =
            united(below, across[i].box).half_area() * count_below + above.half_area() * (count_above - 1);
        const float only_above =
            below.half_area() * (count_below - 1) + united(above, across[i].box).half_area() * count_above;
        const bool may_cut = spare > 0 && !part_below.box.is_empty() && !part_above.box.is_empty();
        if (may_cut && both <= std::min(only_below, only_above)) {
            sides.below.push_back(part_below);
            sides.above.push_back(part_above);
            --spare;
        } else if (part_above.box.is_empty() || (!part_below.box.is_empty() && only_below <= only_above)) {
            sides.below.push_back(across[i]);
            below.add(across[i].box);
            --count_above;
        } else {
            sides.above.push_back(across[i]);
            above.add(across[i].box);
            --count_below;
        }
    }
    return sides;
}

} // namespace path_tracer
