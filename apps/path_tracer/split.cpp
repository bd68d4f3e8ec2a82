// apps/path_tracer/split.cpp - see split.hpp.
#include "split.hpp"
#include "lane_box.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>

namespace path_tracer {
namespace {

constexpr unsigned most_bins = 32;

/// A part of a node's extent along one axis.
struct Bin {
    LaneBox box;
    uint32_t begins = 0, ends = 0; ///< references, here

    void add(const Bin& other) {
        box.add(other.box);
        begins += other.begins;
        ends += other.ends;
    }
    [[nodiscard]] bool is_blank() const { return begins == 0 && ends == 0 && box.is_empty(); }
};

struct Histogram {
    std::array<std::array<Bin, most_bins>, 3> axes;

    void add(const Histogram& other) {
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (std::size_t bin = 0; bin < most_bins; ++bin) axes[axis][bin].add(other.axes[axis][bin]);
    }
};

/// Sums up over all references, the same on any number of threads. body(reference, sum) adds one.
template <class Result, class Body>
Result sum_over(std::span<const Reference> references, const Body& body) {
    const auto add = [&](std::size_t begin, std::size_t end, Result& sum) {
        for (std::size_t i = begin; i < end; ++i) body(references[i], sum);
    };
    Result all;
    if (references.size() < references_worth_a_thread) {
        add(0, references.size(), all);
        return all;
    }
    return tbb::parallel_deterministic_reduce(
        tbb::blocked_range<std::size_t>(0, references.size(), references_worth_a_thread), all,
        [&](const auto& range, Result so_far) {
            add(range.begin(), range.end(), so_far);
            return so_far;
        },
        [](Result a, const Result& b) {
            a.add(b);
            return a;
        });
}

/// Equal bins between two planes.
struct Ruler {
    float begin, width, bins_per_unit;
    unsigned bins;

    Ruler(const Box& extent, int axis, unsigned count)
        : begin(along(extent.lo, axis)),
          width((along(extent.hi, axis) - begin) / static_cast<float>(count)),
          bins_per_unit(1 / width),
          bins(count) {}
    [[nodiscard]] bool is_flat() const { return !(width > std::numeric_limits<float>::min()); }
    [[nodiscard]] unsigned bin_of(float place) const {
        const float bin = (place - begin) * bins_per_unit;
        return bin < 1 ? 0 : std::min(static_cast<unsigned>(bin), bins - 1);
    }
    /// Between the bins `bin` - 1 and `bin`.
    [[nodiscard]] float plane(unsigned bin) const { return begin + width * static_cast<float>(bin); }
};

/// Few references need few bins: 8, and one more for each `references_for_one` of them.
unsigned bins_for(std::size_t references, std::size_t references_for_one) {
    return static_cast<unsigned>(std::min<std::size_t>(8 + references / references_for_one, most_bins));
}

using Rulers = std::array<Ruler, 3>;
Rulers rulers_over(const Box& extent, unsigned bins) {
    return {Ruler(extent, 0, bins), Ruler(extent, 1, bins), Ruler(extent, 2, bins)};
}

int longest_axis(const Box& box) {
    const Float3 size = {box.hi.x - box.lo.x, box.hi.y - box.lo.y, box.hi.z - box.lo.z};
    return size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
}

/// The cost if both boxes ended in the middle of what they share.
float cost_without_overlap(Box below, float count_below, Box above, float count_above, int axis) {
    const float middle = (along(above.lo, axis) + along(below.hi, axis)) * 0.5f;
    set_along(below.hi, axis, smaller(middle, along(below.hi, axis)));
    set_along(above.lo, axis, larger(middle, along(above.lo, axis)));
    return below.half_area() * count_below + above.half_area() * count_above;
}

/// What lies above each bin, and its cost.
struct Above {
    LaneBox box;
    uint32_t count = 0;
    float cost = 0;
};

/// The cheapest place between two bins, if it beats `best`. Both sides have to be shorter than `all`.
void improve(Split& best, const std::array<Bin, most_bins>& row, int axis, const Ruler& ruler, uint32_t all,
             bool cuts_references) {
    std::array<Above, most_bins> above; // from each bin on
    Above sum;
    for (unsigned i = ruler.bins - 1; i > 0; --i) {
        if (!row[i].is_blank()) {
            sum.box.add(row[i].box);
            sum.count += row[i].ends;
            sum.cost = sum.box.half_area() * static_cast<float>(sum.count);
        }
        above[i] = sum;
    }
    LaneBox box;
    uint32_t count = 0;
    unsigned best_bin = 0; // none
    LaneBox best_box;
    uint32_t best_count = 0;
    for (unsigned i = 1; i < ruler.bins; ++i) {
        if (row[i - 1].is_blank()) continue; // as the one before
        box.add(row[i - 1].box);
        count += row[i - 1].begins;
        if (count == 0 || count == all || above[i].count == 0 || above[i].count == all) continue;
        const float cost = box.half_area() * static_cast<float>(count) + above[i].cost;
        if (cost >= best.cost) continue;
        best.cost = cost;
        best_bin = i;
        best_box = box;
        best_count = count;
    }
    if (best_bin == 0) return;
    const Above& rest = above[best_bin];
    LaneBox shared = best_box;
    shared.clip_to(rest.box);
    best.axis = axis;
    best.plane = ruler.plane(best_bin);
    best.cuts_references = cuts_references;
    best.overlap = shared.is_empty() ? 0 : shared.half_area();
    best.cost_without_overlap = cost_without_overlap(best_box.box(), static_cast<float>(best_count),
                                                     rest.box.box(), static_cast<float>(rest.count), axis);
}

/// Of the three axes.
Split cheapest(const Histogram& histogram, const Rulers& rulers, std::size_t references,
               bool cuts_references) {
    Split best;
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (!rulers[axis].is_flat())
            improve(best, histogram.axes[axis], static_cast<int>(axis), rulers[axis],
                    static_cast<uint32_t>(references), cuts_references);
    return best;
}

/// The parts of a reference in a row of bins.
class Slices {
public:
    /// `first`, `last`: the bins that it lies in
    Slices(const Ruler& ruler, int axis, unsigned first, unsigned last)
        : ruler_(ruler), axis_(axis), first_(first), last_(last) {
        for (unsigned bin = first; bin <= last; ++bin) std::construct_at(&slice(bin));
    }

    void add(const Triangle& triangle) {
        const Corner corners[3] = {corner(triangle.a), corner(triangle.b), corner(triangle.c)};
        for (int i = 0; i < 3; ++i) add_edge(corners[i], corners[(i + 1) % 3]);
    }
    /// Adds to bins what is in `box`, too.
    void give(const LaneBox& box, std::array<Bin, most_bins>& to) {
        for (unsigned bin = first_; bin <= last_; ++bin) {
            slice(bin).clip_to(box);
            if (!slice(bin).is_empty()) to[bin].box.add(slice(bin));
        }
    }

private:
    struct Corner {
        Lanes point;
        float place; // along the axis
        unsigned bin;
    };
    [[nodiscard]] Corner corner(const Float3& point) const {
        const float place = along(point, axis_);
        return {Lanes{point.x, point.y, point.z, 0}, place, std::clamp(ruler_.bin_of(place), first_, last_)};
    }
    LaneBox& slice(unsigned bin) { return *std::launder(reinterpret_cast<LaneBox*>(slices_.data()) + bin); }
    void add_edge(const Corner& one, const Corner& other) {
        const Corner &low = one.place < other.place ? one : other, &high = &low == &one ? other : one;
        slice(low.bin).add(low.point);
        slice(high.bin).add(high.point);
        if (low.bin == high.bin) return;
        const Lanes slope = (high.point - low.point) * (1 / (high.place - low.place));
        for (unsigned bin = low.bin; bin < high.bin; ++bin) {
            const Lanes crossing = low.point + slope * (ruler_.plane(bin + 1) - low.place);
            slice(bin).add(crossing);
            slice(bin + 1).add(crossing);
        }
    }

    const Ruler& ruler_;
    int axis_;
    unsigned first_, last_;
    // Only those that are in use begin to be boxes: to fill all of them would take longer than the rest.
    alignas(LaneBox) std::array<std::byte, most_bins * sizeof(LaneBox)> slices_;
};

} // namespace

Bounds bounds_of(std::span<const Reference> references) {
    struct Sum {
        LaneBox box, centres;
        void add(const Sum& other) {
            box.add(other.box);
            centres.add(other.centres);
        }
    };
    const Sum sum = sum_over<Sum>(references, [](const Reference& reference, Sum& to) {
        const LaneBox box(reference);
        to.box.add(box);
        to.centres.add((box.lo + box.hi) * 0.5f);
    });
    return {sum.box.box(), sum.centres.box()};
}

Split object_split(std::span<const Reference> references, const Bounds& bounds) {
    const Rulers rulers = rulers_over(bounds.centres, bins_for(references.size(), 2));
    const auto histogram = sum_over<Histogram>(references, [&](const Reference& reference, Histogram& to) {
        const LaneBox box(reference);
        const Lanes centre = (box.lo + box.hi) * 0.5f;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (rulers[axis].is_flat()) continue;
            to.axes[axis][rulers[axis].bin_of(centre[axis])].add({box, 1, 1});
        }
    });
    return cheapest(histogram, rulers, references.size(), false);
}

Split spatial_split(std::span<const Reference> references, const Bounds& bounds, const Shapes& shapes,
                    int axis_between) {
    const Rulers rulers = rulers_over(bounds.box, bins_for(references.size(), 64));
    const int longest = longest_axis(bounds.box);
    const int all_axes[2] = {longest, axis_between};
    const bool is_one = axis_between < 0 || axis_between == longest;
    const std::span<const int> axes = std::span(all_axes).first(is_one ? 1 : 2);
    const auto histogram = sum_over<Histogram>(references, [&](const Reference& reference, Histogram& to) {
        const LaneBox box(reference);
        for (const int axis : axes) {
            const Ruler& ruler = rulers[static_cast<std::size_t>(axis)];
            if (ruler.is_flat()) continue;
            auto& row = to.axes[static_cast<std::size_t>(axis)];
            const unsigned first = ruler.bin_of(box.lo[axis]), last = ruler.bin_of(box.hi[axis]);
            ++row[first].begins;
            ++row[last].ends;
            if (first == last) {
                row[first].box.add(box);
                continue;
            }
            Slices slices(ruler, axis, first, last);
            shapes.for_each_triangle(reference, [&](const Triangle& triangle) { slices.add(triangle); });
            slices.give(box, row);
        }
    });
    return cheapest(histogram, rulers, references.size(), true);
}

Sides divide(std::span<Reference> references, const Split& split, const Shapes& shapes, std::size_t most) {
    Sides sides;
    if (!split.cuts_references) {
        const auto first_above =
            std::partition(references.begin(), references.end(), [&](const Reference& reference) {
                return reference.centre(split.axis) < split.plane;
            });
        const auto count = static_cast<std::size_t>(first_above - references.begin());
        sides.below = references.first(count);
        sides.above = references.subspan(count);
        return sides;
    }
    std::vector<Reference> across;
    Box below, above;
    for (const Reference& reference : references) {
        if (along(reference.box.hi, split.axis) <= split.plane) {
            sides.below_cut.push_back(reference);
            below.add(reference.box);
        } else if (along(reference.box.lo, split.axis) >= split.plane) {
            sides.above_cut.push_back(reference);
            above.add(reference.box);
        } else {
            across.push_back(reference);
        }
    }
    // A reference that is not worth two goes to one side as a whole.
    std::size_t spare = most - references.size();
    float count_below = static_cast<float>(sides.below_cut.size() + across.size()),
          count_above = static_cast<float>(sides.above_cut.size() + across.size());
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
            sides.below_cut.push_back(part_below);
            sides.above_cut.push_back(part_above);
            --spare;
        } else if (part_above.box.is_empty() || (!part_below.box.is_empty() && only_below <= only_above)) {
            sides.below_cut.push_back(across[i]);
            below.add(across[i].box);
            --count_above;
        } else {
            sides.above_cut.push_back(across[i]);
            above.add(across[i].box);
            --count_below;
        }
    }
    sides.below = sides.below_cut;
    sides.above = sides.above_cut;
    return sides;
}

} // namespace path_tracer
