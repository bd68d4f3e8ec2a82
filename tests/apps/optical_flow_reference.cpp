// tests/apps/optical_flow_reference.cpp - see optical_flow_reference.hpp.
#include "optical_flow_reference.hpp"

#include <algorithm>
#include <cmath>

namespace optical_flow::test {
namespace {

/// A mirror stands at the edge, so that the pixel there comes twice in a row.
int mirrored(int i, int size) {
    const int period = 2 * size, along = ((i % period) + period) % period;
    return along < size ? along : period - 1 - along;
}

/// Of brightness, or of anything else that each pixel has one of.
struct Picture {
    Size size;
    std::vector<double> pixels;

    explicit Picture(Size of) : size(of), pixels(of.pixels()) {}
    Picture(Size of, std::span<const double> from) : size(of), pixels(from.begin(), from.end()) {}

    [[nodiscard]] std::size_t index(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) +
               static_cast<std::size_t>(x);
    }
    [[nodiscard]] double& at(int x, int y) { return pixels[index(x, y)]; }
    [[nodiscard]] double seen(int x, int y) const {
        return pixels[index(mirrored(x, size.width), mirrored(y, size.height))];
    }
    /// Bilinear. Beyond the edge too: between mirrored pixels is what is mirrored.
    [[nodiscard]] double between(double x, double y) const {
        const double left = std::floor(x), top = std::floor(y), right_share = x - left, below_share = y - top;
        const int i = static_cast<int>(left), j = static_cast<int>(top);
        return (1 - below_share) * ((1 - right_share) * seen(i, j) + right_share * seen(i + 1, j)) +
               below_share * ((1 - right_share) * seen(i, j + 1) + right_share * seen(i + 1, j + 1));
    }
};

template <class F>
Picture made(Size size, F&& value) {
    Picture picture(size);
    for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) picture.at(x, y) = value(x, y);
    return picture;
}

/// Pixels of `to` are `to`-th parts of what `from` counts: where the middle of one of them is.
double position(int i, int to, int from) { return (i + 0.5) * from / to - 0.5; }

Picture shrunk(const Picture& fine) {
    const Size size{(fine.size.width + 1) / 2, (fine.size.height + 1) / 2};
    const double dx = 0.25 * fine.size.width / size.width, dy = 0.25 * fine.size.height / size.height;
    return made(size, [&](int i, int j) {
        const double x = position(i, size.width, fine.size.width);
        const double y = position(j, size.height, fine.size.height);
        return (fine.between(x - dx, y) + fine.between(x + dx, y) + fine.between(x, y - dy) +
                fine.between(x, y + dy)) /
               4;
    });
}

/// A component of the flow on a finer level, in whose pixels it is `scale` times as long.
Picture prolonged(const Picture& coarse, Size size, double scale) {
    return made(size, [&](int i, int j) {
        return scale * coarse.between(position(i, size.width, coarse.size.width),
                                      position(j, size.height, coarse.size.height));
    });
}

double five_points(double back2, double back1, double on1, double on2) {
    return (back2 - 8 * back1 + 8 * on1 - on2) / 12;
}
double slope_x(const Picture& of, int x, int y) {
    return five_points(of.seen(x - 2, y), of.seen(x - 1, y), of.seen(x + 1, y), of.seen(x + 2, y));
}
double slope_y(const Picture& of, int x, int y) {
    return five_points(of.seen(x, y - 2), of.seen(x, y - 1), of.seen(x, y + 1), of.seen(x, y + 2));
}
double mean_of_neighbours(const Picture& of, int x, int y) {
    return (of.seen(x - 1, y) + of.seen(x + 1, y) + of.seen(x, y - 1) + of.seen(x, y + 1)) / 4;
}

/// Adds what the flow lacks.
void improve(Picture& u, Picture& v, const Picture& source, const Picture& target, int iterations,
             double alpha) {
    const Size size = source.size;
    const Picture warped =
        made(size, [&](int x, int y) { return target.between(x + u.seen(x, y), y + v.seen(x, y)); });
    const Picture ix =
        made(size, [&](int x, int y) { return (slope_x(source, x, y) + slope_x(warped, x, y)) / 2; });
    const Picture iy =
        made(size, [&](int x, int y) { return (slope_y(source, x, y) + slope_y(warped, x, y)) / 2; });
    Picture du(size), dv(size);
    for (int i = 0; i < iterations; ++i) {
        const Picture u_before = du, v_before = dv;
        for (int y = 0; y < size.height; ++y)
            for (int x = 0; x < size.width; ++x) {
                const double bx = ix.seen(x, y), by = iy.seen(x, y),
                             bt = warped.seen(x, y) - source.seen(x, y);
                const double mean_u = mean_of_neighbours(u_before, x, y);
                const double mean_v = mean_of_neighbours(v_before, x, y);
                const double part = (bx * mean_u + by * mean_v + bt) / (alpha + bx * bx + by * by);
                du.at(x, y) = mean_u - bx * part;
                dv.at(x, y) = mean_v - by * part;
            }
    }
    std::ranges::transform(u.pixels, du.pixels, u.pixels.begin(), std::plus{});
    std::ranges::transform(v.pixels, dv.pixels, v.pixels.begin(), std::plus{});
}

} // namespace

Field flow_of(std::span<const double> first, std::span<const double> second, Size size, int levels, int warps,
              int iterations, double alpha) {
    std::vector<Picture> sources{Picture(size, first)}, targets{Picture(size, second)};
    for (int i = 1; i < levels; ++i) {
        sources.push_back(shrunk(sources.back()));
        targets.push_back(shrunk(targets.back()));
    }
    Picture u(sources.back().size), v = u;
    for (std::size_t i = sources.size(); i-- > 0;) {
        const Size here = sources[i].size, coarser = u.size;
        if (here != coarser) {
            u = prolonged(u, here, static_cast<double>(here.width) / coarser.width);
            v = prolonged(v, here, static_cast<double>(here.height) / coarser.height);
        }
        for (int n = 0; n < warps; ++n) improve(u, v, sources[i], targets[i], iterations, alpha);
    }
    return {u.pixels, v.pixels};
}

} // namespace optical_flow::test
