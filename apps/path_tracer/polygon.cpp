// apps/path_tracer/polygon.cpp - see polygon.hpp.
//
// Ears are cut off, one after the other. How often triangles cover a point is how often the polygon winds
// around it, whatever is cut in which order, as long as each cut turns counter-clockwise: then 0 or 1 times,
// so triangles neither overlap nor leave the polygon. What is left to see to is that cutting never gets
// stuck: no edge of what is left may run through an ear.
#include "polygon.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace path_tracer {
namespace {

struct Flat {
    double x, y;

    friend bool operator==(Flat a, Flat b) { return a.x == b.x && a.y == b.y; }
};

/// The polygon as seen along the axis on which it is widest to look at, so that it runs counter-clockwise.
std::vector<Flat> project(std::span<const Point> corners) {
    Point normal{0, 0, 0}; // Newell's, seen from the first corner: far from the origin products would cancel
    for (std::size_t i = 0; i < corners.size(); ++i)
        normal = normal + cross(corners[i] - corners[0], corners[(i + 1) % corners.size()] - corners[0]);
    const double largest = largest_part(normal);
    std::vector<Flat> points;
    points.reserve(corners.size());
    for (const Point corner : corners) {
        const Point c = corner - corners[0];
        if (largest == std::abs(normal.z))
            points.push_back(normal.z < 0 ? Flat{c.y, c.x} : Flat{c.x, c.y});
        else if (largest == std::abs(normal.y))
            points.push_back(normal.y < 0 ? Flat{c.x, c.z} : Flat{c.z, c.x});
        else
            points.push_back(normal.x < 0 ? Flat{c.z, c.y} : Flat{c.y, c.z});
    }
    return points;
}

class EarCutter {
public:
    explicit EarCutter(std::span<const Point> corners) : points_(project(corners)), left_(corners.size()) {
        std::iota(left_.begin(), left_.end(), 0u);
        for (const Point corner : corners)
            coordinate_error_ = std::max(coordinate_error_, 0x1p-51 * largest_part(corner));
    }

    std::vector<std::array<uint32_t, 3>> run() {
        join_neighbours();
        if (is_convex()) {
            fan();
            return std::move(triangles_);
        }
        std::size_t at = 0;
        while (left_.size() > 3 && cut_one(at)) {
        }
        if (left_.size() == 3 && turn(point(0), point(1), point(2)) == 0) left_.clear();
        fan();
        return std::move(triangles_);
    }

private:
    /// What may lie on the edge that a cut makes: nothing, so that no corner ends up in the middle of an
    /// edge; or corners, where there is no other way.
    enum class Care { all, some };

    /// 1: counter-clockwise; 0: on a line, as far as rounding tells.
    [[nodiscard]] int turn(Flat a, Flat b, Flat c) const {
        const double along_x = b.x - a.x, along_y = b.y - a.y, to_x = c.x - a.x, to_y = c.y - a.y;
        const double area = difference_of_products(along_x, to_y, along_y, to_x);
        const double along = std::abs(along_x) + std::abs(along_y), to = std::abs(to_x) + std::abs(to_y);
        const double rounding = coordinate_error_ * (along + to) + 0x1p-46 * along * to;
        return area > rounding ? 1 : area < -rounding ? -1 : 0;
    }

    [[nodiscard]] Flat point(std::size_t at) const { return points_[left_[at % left_.size()]]; }

    /// True if a fan covers the polygon: then all corners are convex, and it goes around once.
    [[nodiscard]] bool is_convex() const {
        for (std::size_t i = 0; i < left_.size(); ++i)
            if (turn(point(i), point(i + 1), point(i + 2)) <= 0) return false;
        for (std::size_t i = 2; i < left_.size(); ++i)
            if (turn(point(0), point(i - 1), point(i)) <= 0) return false;
        return true;
    }

    /// True if p lies between a and c, which are on one line with it.
    [[nodiscard]] static bool is_between(Flat a, Flat c, Flat p) {
        return (p.x - a.x) * (p.x - c.x) + (p.y - a.y) * (p.y - c.y) < 0;
    }

    /// True if a part of the edge from p to q lies within the triangle, not on its edges.
    [[nodiscard]] bool runs_through(Flat a, Flat b, Flat c, Flat p, Flat q) const {
        const Flat corners[3] = {a, b, c};
        int of_p[3], of_q[3];
        for (int i = 0; i < 3; ++i) {
            of_p[i] = turn(corners[i], corners[(i + 1) % 3], p);
            of_q[i] = turn(corners[i], corners[(i + 1) % 3], q);
            if (of_p[i] <= 0 && of_q[i] <= 0) return false; // beyond one edge, or on it
        }
        if (std::min({of_p[0], of_p[1], of_p[2]}) > 0 || std::min({of_q[0], of_q[1], of_q[2]}) > 0)
            return true;
        // Both outside or on the edges. It runs through unless all corners are on one side of it.
        int least = 1, most = -1;
        for (const Flat corner : corners) {
            const int side = turn(p, q, corner);
            least = std::min(least, side);
            most = std::max(most, side);
        }
        return least < 0 && most > 0;
    }

    [[nodiscard]] bool is_ear(std::size_t at, Care care) const {
        const std::size_t count = left_.size();
        const Flat a = point(at + count - 1), b = point(at), c = point(at + 1);
        if (turn(a, b, c) <= 0) return false;
        const double lo_x = std::min({a.x, b.x, c.x}), hi_x = std::max({a.x, b.x, c.x});
        const double lo_y = std::min({a.y, b.y, c.y}), hi_y = std::max({a.y, b.y, c.y});
        for (std::size_t i = at + 1; i + 2 <= at + count; ++i) { // all edges but the two at b
            const Flat p = point(i), q = point(i + 1);
            if (std::max(p.x, q.x) < lo_x || std::min(p.x, q.x) > hi_x || std::max(p.y, q.y) < lo_y ||
                std::min(p.y, q.y) > hi_y)
                continue;
            if (runs_through(a, b, c, p, q)) return false;
            if (care == Care::all && turn(a, c, p) == 0 && is_between(a, c, p)) return false;
        }
        return true;
    }

    /// An edge that runs back on the one before it: what lies between them has no area.
    [[nodiscard]] bool is_spike(std::size_t at) const {
        const Flat a = point(at + left_.size() - 1), b = point(at), c = point(at + 1);
        return a == b || b == c || a == c || (turn(a, b, c) == 0 && !is_between(a, c, b));
    }

    void remove(std::size_t at) { left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(at)); }

    /// Corners that come twice in a row are one.
    void join_neighbours() {
        for (std::size_t i = 0; i < left_.size() && left_.size() > 1;) {
            if (point(i) == point(i + 1))
                remove(i);
            else
                ++i;
        }
    }

    /// Removes the corner `at` if a cut has made a spike of it. Spikes of the polygon itself stay: they reach
    /// into it, and what lies around them is to be covered.
    void remove_spike(std::size_t at) {
        while (left_.size() > 2 && is_spike(at)) {
            remove(at);
            at = (at + left_.size() - 1) % left_.size();
            if (!(point(at) == point(at + 1))) return;
            remove(at);
            at %= left_.size();
        }
    }

    /// Cuts off one ear, from the corner `at` on; false if there is none. Goes on behind it, so that
    /// triangles stay broad.
    bool cut_one(std::size_t& at) {
        for (const Care care : {Care::all, Care::some})
            for (std::size_t tried = 0; tried < left_.size(); ++tried) {
                const std::size_t ear = (at + tried) % left_.size();
                if (!is_ear(ear, care)) continue;
                cut(ear);
                at = ear % left_.size();
                return true;
            }
        // There may be ears again without spikes that reach out of the polygon.
        for (std::size_t i = 0; i < left_.size(); ++i)
            if (is_spike(i)) {
                remove(i);
                at %= left_.size();
                return true;
            }
        return false;
    }

    void cut(std::size_t ear) {
        const std::size_t count = left_.size();
        const uint32_t before = left_[(ear + count - 1) % count], behind = left_[(ear + 1) % count];
        triangles_.push_back({before, left_[ear], behind});
        remove(ear);
        for (const uint32_t corner : {before, behind})
            if (const auto found = std::find(left_.begin(), left_.end(), corner); found != left_.end())
                remove_spike(static_cast<std::size_t>(found - left_.begin()));
    }

    void fan() {
        for (std::size_t i = 2; i < left_.size(); ++i)
            triangles_.push_back({left_[0], left_[i - 1], left_[i]});
    }

    std::vector<Flat> points_;
    double coordinate_error_ =
        0; ///< what corners are away from where they were meant to be, as files have them
    std::vector<uint32_t> left_; ///< corners of what is left
    std::vector<std::array<uint32_t, 3>> triangles_;
};

} // namespace

std::vector<std::array<uint32_t, 3>> triangulate(std::span<const Point> corners) {
    if (corners.size() < 3) return {};
    return EarCutter(corners).run();
}

} // namespace path_tracer
