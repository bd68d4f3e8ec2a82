// Materials: albedos against closed forms, values against formulas in double precision, chosen directions
// against their density.
#include "apps/host_renderer.hpp"
#include "apps/scene_builder.hpp"
#include "apps/seeds.hpp"
#include "path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <sstream>
#include <utility>
#include <vector>

namespace path_tracer::test {
namespace {

/// A material as kernels see it.
struct Prepared {
    PreparedScene scene;

    explicit Prepared(const SurfaceDescription& surface, Scattering scattering = Scattering::multiple) {
        SceneBuilder builder;
        SurfaceDescription full = surface;
        full.passing = Passing::its_share; // so that it is prepared with all that there is
        builder.material(full).triangle({0, 0, 0}, {1, 0, 0}, {0, 1, 0});
        scene = prepare_scene(builder.scene(), scattering);
    }
    [[nodiscard]] Bsdf seen_along(Float3 out, Float3 normal, Float3 shading, bool is_front = true) const {
        return seen_along(out, normal, shading, shading, is_front);
    }
    [[nodiscard]] Bsdf seen_along(Float3 out, Float3 normal, Float3 shading, Float3 coat_normal,
                                  bool is_front) const {
        return bsdf_of(view_pointer(), &scene.finishes[0], out, normal, shading, coat_normal, is_front,
                       {1, 1, 1});
    }
    [[nodiscard]] Bsdf at_cosine(double cosine, bool is_front = true) const {
        return seen_along(out_at(cosine), {0, 0, 1}, {0, 0, 1}, is_front);
    }
    static Float3 out_at(double cosine) {
        return {static_cast<float>(std::sqrt(1 - cosine * cosine)), 0, static_cast<float>(cosine)};
    }

private:
    [[nodiscard]] const SceneView* view_pointer() const {
        view_ = view_of(scene);
        return &view_;
    }
    mutable SceneView view_{};
};

class Materials : public Seeded {
protected:
    bool toss() { return between(0, 1) < 0.5; }
    Random4 numbers() {
        const auto number = [this] { return static_cast<float>(random() >> 8) * 0x1p-24f; };
        return {number(), number(), number(), number()};
    }
    /// Of white light from all around, what is sent along `out`.
    Rgb albedo(const Bsdf& bsdf, int samples) {
        std::array<double, 3> sum{};
        for (int i = 0; i < samples; ++i) {
            const Rgb weight = next_direction(&bsdf, numbers()).weight;
            sum[0] += double{weight.r};
            sum[1] += double{weight.g};
            sum[2] += double{weight.b};
        }
        return {static_cast<float>(sum[0] / samples), static_cast<float>(sum[1] / samples),
                static_cast<float>(sum[2] / samples)};
    }
    /// White, with any parts and layers.
    SurfaceDescription any_white() {
        SurfaceDescription surface{.base = {1, 1, 1}};
        const auto some = [this] { return static_cast<float>(toss() ? between(0, 1) : 0); };
        surface.metallic = some();
        surface.transmitted = some();
        surface.roughness = static_cast<float>(between(0, 1));
        surface.ior = static_cast<float>(whole_between(0, 4) == 0 ? 1 : between(1.01, 2.5));
        surface.is_thin = toss();
        if (toss()) {
            surface.highlight = {0.04f, 0.04f, 0.04f};
            surface.highlight_edge = static_cast<float>(between(0, 1));
        }
        surface.coat = some();
        surface.coat_roughness = static_cast<float>(between(0, 1));
        return surface;
    }
    /// Directions that a surface takes, against their density, chi squared over cells.
    template <class Cells>
    void expect_as_often_as_they_say(const Bsdf& bsdf, const Cells& cells, const SurfaceDescription& surface,
                                     int samples) {
        constexpr double inexact = 0.01; // integrals over cells are right to about a part in a hundred
        std::vector<double> counts(Cells::count(), 0.0);
        int ended = 0;
        for (int i = 0; i < samples; ++i) {
            const NextDirection next = next_direction(&bsdf, numbers());
            if (next.density == 0)
                ++ended; // other facets hide it
            else
                counts[cells.cell_of(next.direction)] += 1;
        }
        std::vector<double> chances = cells.integrals([&](Float3 in) {
            float density;
            bsdf_value(&bsdf, in, &density);
            return double{density};
        });
        for (std::size_t i = 1; i < Cells::count(); ++i) // the integrals of parts of cells are not as good
            if (cells.is_cut(i)) {
                counts[0] += std::exchange(counts[i], 0.0);
                chances[0] += std::exchange(chances[i], 0.0);
            }
        std::ostringstream description;
        description << "metal " << surface.metallic << ", glass " << surface.transmitted << ", roughness "
                    << surface.roughness << ", ior " << surface.ior << ", thin " << surface.is_thin
                    << ", layer " << surface.highlight_edge << ", sheen " << surface.sheen.r << ", coat "
                    << surface.coat << ", " << surface.coat_roughness << ", cosines " << bsdf.out.z << ", "
                    << bsdf.shading.z << ", " << bsdf.coat_normal.z << ", ratio " << bsdf.ratio;
        const double all = std::accumulate(chances.begin(), chances.end(), 0.0);
        EXPECT_NEAR(all + static_cast<double>(ended) / samples, 1, 0.02) << description.str();
        double chi2 = 0, pooled_count = 0, pooled_chance = 0;
        int freedom = -1;
        const auto close = [&] {
            const double expected = pooled_chance * samples;
            chi2 += std::pow(pooled_count - expected, 2) / (expected + std::pow(inexact * expected, 2));
            ++freedom;
            pooled_count = pooled_chance = 0;
        };
        for (std::size_t i = 0; i < Cells::count(); ++i) {
            pooled_count += counts[i];
            pooled_chance += chances[i];
            if (pooled_chance * samples >= 20) close();
        }
        // Sums of squares are nearly normal.
        EXPECT_LT(chi2, freedom + 5 * std::sqrt(2.0 * freedom)) << freedom << " cells; " << description.str();
    }
};

TEST_F(Materials, WhiteMetalReflectsAllAtAnyRoughnessAndAngle) {
    for (int roughness = 0; roughness <= 10; ++roughness) {
        const Prepared metal(
            {.base = {1, 1, 1}, .metallic = 1, .roughness = static_cast<float>(roughness) / 10});
        for (const double cosine : {0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0}) {
            const float sent = albedo(metal.at_cosine(cosine), 100'000).g;
            EXPECT_GT(sent, 0.975) << roughness << " / 10, cosine " << cosine;
            EXPECT_LT(sent, 1.01) << roughness << " / 10, cosine " << cosine;
        }
    }
}

TEST_F(Materials, RoughMetalLosesLightWithSingleScattering) {
    const Prepared metal({.base = {1, 1, 1}, .metallic = 1, .roughness = 1}, Scattering::single);
    // In closed form, head-on and for alpha 1: Smith's G2 is 2 c / (1 + c) there, and visible normals from 0
    // to 45 degrees reflect upwards.
    double expected = 0;
    constexpr int steps = 10'000;
    for (int i = 0; i < steps; ++i) { // c of the reflected direction, whose density is 1/2
        const double c = (i + 0.5) / steps;
        // density of facets at (1 + c) / 2 = cos^2: D = 1 / pi; f c dw = D G2 / 4 2 pi dc
        expected += 2 * c / (1 + c) / 2 / steps;
    }
    EXPECT_NEAR(double{albedo(metal.at_cosine(1), 200'000).g}, expected, 0.004);
}

TEST_F(Materials, WhiteOnesSendOnAllOfTheLight) {
    for (int materials = 0; materials < 60; ++materials) {
        const SurfaceDescription surface = any_white();
        const Prepared prepared(surface);
        for (int directions = 0; directions < 3; ++directions) {
            const double cosine = between(0.05, 1);
            const bool is_front = toss();
            const Bsdf bsdf = prepared.at_cosine(cosine, is_front);
            // Tables are interpolated, and what coats let through is so on average alone: 1 %; the rest is
            // noise.
            EXPECT_NEAR(albedo(bsdf, 20'000).g, 1, 0.02)
                << "metal " << surface.metallic << ", glass " << surface.transmitted << ", roughness "
                << surface.roughness << ", ior " << surface.ior << ", thin " << surface.is_thin << ", layer "
                << surface.highlight_edge << ", coat " << surface.coat << ", " << surface.coat_roughness
                << ", cosine " << cosine << ", front " << is_front;
        }
    }
}

TEST_F(Materials, OfFibresSendOnNoMoreThanAllAndHardlyLess) {
    for (int materials = 0; materials < 20; ++materials) {
        const auto sheen = static_cast<float>(between(0, 1));
        const Prepared cloth({.base = {1, 1, 1},
                              .sheen = {sheen, sheen, sheen},
                              .sheen_roughness = static_cast<float>(between(0.2, 1))});
        for (const double cosine : {0.1, 0.3, 0.6, 1.0})
            EXPECT_NEAR(albedo(cloth.at_cosine(cosine), 50'000).g, 1, 0.03) << sheen << ", cosine " << cosine;
    }
}

TEST_F(Materials, LoseNoLightWhereNormalsLean) {
    for (int materials = 0; materials < 40; ++materials) {
        SurfaceDescription surface = any_white();
        surface.roughness = std::max(surface.roughness, 0.3f);
        const Prepared prepared(surface);
        const auto direction = [&](double least) {
            const double z = between(least, 1), turn = between(0, 2 * std::numbers::pi),
                         r = std::sqrt(1 - z * z);
            return Float3{static_cast<float>(r * std::cos(turn)), static_cast<float>(r * std::sin(turn)),
                          static_cast<float>(z)};
        };
        const Bsdf bsdf =
            prepared.seen_along(direction(0.1), {0, 0, 1}, direction(0.5), direction(0.5), toss());
        // What facets of glass lose is known for upright normals. The most that was seen of thousands of
        // materials is 3.8 % too much, for glass of roughness 0.97 that does not bend light.
        const bool is_very_rough_glass =
            surface.transmitted > 0 && !surface.is_thin && surface.roughness > 0.9f;
        EXPECT_NEAR(albedo(bsdf, 40'000).g, 1, is_very_rough_glass ? 0.06 : 0.025)
            << "metal " << surface.metallic << ", glass " << surface.transmitted << ", roughness "
            << surface.roughness << ", ior " << surface.ior << ", thin " << surface.is_thin;
    }
}

/// Cook and Torrance's formula with GGX and Smith's masking by height, for light from `in` seen along `out`.
double textbook(Point out, Point in, double alpha, double head_on) {
    const Point half = normalised(out + in);
    const double alpha2 = alpha * alpha, down = half.z * half.z * (alpha2 - 1) + 1;
    const double density = alpha2 / (std::numbers::pi * down * down);
    const auto lambda = [alpha2](double cosine) {
        const double tangent2 = (1 - cosine * cosine) / (cosine * cosine);
        return (std::sqrt(1 + alpha2 * tangent2) - 1) / 2;
    };
    const double masking = 1 / (1 + lambda(out.z) + lambda(in.z));
    const double fresnel = head_on + (1 - head_on) * std::pow(1 - dot(out, half), 5);
    return density * masking * fresnel / (4 * out.z * in.z);
}

TEST_F(Materials, HaveTheValuesOfTheTextbook) {
    for (int metals = 0; metals < 25; ++metals) {
        const double roughness = between(0.05, 1), alpha = roughness * roughness, head_on = between(0, 1);
        const auto reflectance = static_cast<float>(head_on);
        const Prepared metal({.base = {reflectance, reflectance, reflectance},
                              .metallic = 1,
                              .roughness = static_cast<float>(roughness)},
                             Scattering::single);
        const auto upward = [&] {
            const double z = between(0.05, 1), turn = between(0, 2 * std::numbers::pi),
                         r = std::sqrt(1 - z * z);
            return Point{r * std::cos(turn), r * std::sin(turn), z};
        };
        for (int directions = 0; directions < 100; ++directions) {
            const Point out = upward();
            Point in = upward();
            if (toss()) in = normalised(Point{-out.x, -out.y, out.z} + in * (0.5 * alpha)); // within the lobe
            const Bsdf bsdf = metal.seen_along(rounded(out), {0, 0, 1}, {0, 0, 1});
            float density;
            const double expected = textbook(out, in, alpha, head_on) * in.z;
            EXPECT_NEAR(double{bsdf_value(&bsdf, rounded(in), &density).g}, expected, 2e-3 * expected + 1e-6)
                << "alpha " << alpha;
        }
    }
}

/// Directions in two caps of bins, around where a smooth surface reflects and where it refracts; rings are
/// thin near the middle, where sharp lobes are.
class Bins {
public:
    Bins(Float3 reflected, Float3 refracted) : reflected_(reflected), refracted_(refracted) {}
    static constexpr std::size_t rings = 20, sectors = 6;
    static constexpr std::size_t count() { return 2 * rings * sectors; }

    [[nodiscard]] std::size_t cell_of(Float3 in) const {
        const bool is_above = in.z > 0;
        const Float3 pole = is_above ? reflected_ : refracted_;
        Float3 tangent, bitangent;
        make_frame(pole, &tangent, &bitangent);
        const Float3 across = cross_of(pole, in);
        const double angle = std::atan2(std::sqrt(double{dot_of(across, across)}), double{dot_of(pole, in)});
        const double turn = std::atan2(double{dot_of(in, bitangent)}, double{dot_of(in, tangent)});
        const auto ring =
            std::min(rings - 1, static_cast<std::size_t>(std::cbrt(angle / std::numbers::pi) * rings));
        const auto sector =
            std::min(sectors - 1, static_cast<std::size_t>((turn / (2 * std::numbers::pi) + 0.5) * sectors));
        return ((is_above ? 0 : rings) + ring) * sectors + sector;
    }
    static constexpr bool is_cut(std::size_t) { return false; }
    /// The integral of a density over each bin.
    template <class Density>
    [[nodiscard]] std::vector<double> integrals(const Density& density) const {
        std::vector<double> sums(count(), 0.0);
        constexpr int fine = 24; // of a bin, along each side
        for (const bool is_above : {true, false}) {
            const Float3 pole = is_above ? reflected_ : refracted_;
            Float3 tangent, bitangent;
            make_frame(pole, &tangent, &bitangent);
            const int all = static_cast<int>(rings) * fine, around = static_cast<int>(sectors) * fine;
            for (int i = 0; i < all; ++i) {
                const double part = (i + 0.5) / all, angle = std::numbers::pi * part * part * part;
                const double weight = std::sin(angle) * 3 * std::numbers::pi * part * part / all * 2 *
                                      std::numbers::pi / around;
                for (int j = 0; j < around; ++j) {
                    const double turn = 2 * std::numbers::pi * ((j + 0.5) / around - 0.5);
                    const Float3 in = normalised(
                        add(scaled(pole, static_cast<float>(std::cos(angle))),
                            add(scaled(tangent, static_cast<float>(std::sin(angle) * std::cos(turn))),
                                scaled(bitangent, static_cast<float>(std::sin(angle) * std::sin(turn))))));
                    if ((in.z > 0) != is_above) continue;
                    const std::size_t ring = static_cast<std::size_t>(i) / fine,
                                      sector = static_cast<std::size_t>(j) / fine;
                    sums[((is_above ? 0 : rings) + ring) * sectors + sector] += weight * density(in);
                }
            }
        }
        return sums;
    }

private:
    Float3 reflected_, refracted_;
};

TEST_F(Materials, TakeDirectionsAsOftenAsTheySay) {
    for (int materials = 0; materials < 30; ++materials) {
        SurfaceDescription surface = any_white();
        surface.base = {0.8f, 0.6f, 0.3f};
        surface.ior = std::max(surface.ior, 1.1f); // nearer to 1, what is refracted is too sharp for bins
        // Mirror images of lobes end at the horizon, so there rings have to; then no lobe must be sharp.
        const bool is_front = toss(), leans = toss();
        const auto rough = [&] { return static_cast<float>(between(leans ? 0.6 : 0.15, 1)); };
        surface.roughness = rough();
        surface.coat_roughness = rough();
        if (toss()) {
            surface.sheen = {0.5f, 0.5f, 0.5f};
            surface.sheen_roughness = rough();
        }
        const Prepared prepared(surface);
        const Float3 out = Prepared::out_at(between(0.1, 1));
        const Float3 shading = leans ? normalised(vec(static_cast<float>(between(-0.5, 0.5)),
                                                      static_cast<float>(between(-0.5, 0.5)), 1))
                                     : vec(0, 0, 1);
        const Float3 coat_normal =
            leans ? normalised(vec(static_cast<float>(between(-0.5, 0.5)), 0, 1)) : shading;
        const Bsdf bsdf = prepared.seen_along(out, {0, 0, 1}, shading, coat_normal, is_front);
        float cosine_in_far = 0;
        const float cosine = dot_of(out, bsdf.shading);
        Float3 refracted = negated(out);
        if (surface.is_thin)
            refracted = negated(out);
        else if (fresnel(cosine, bsdf.ratio, &cosine_in_far) < 1)
            refracted = refracted_at(out, bsdf.shading, cosine, bsdf.ratio, cosine_in_far);
        const Bins bins(leans ? vec(0, 0, 1) : mirrored_at(out, bsdf.shading),
                        leans ? vec(0, 0, -1) : refracted);
        expect_as_often_as_they_say(bsdf, bins, surface, 60'000);
    }
}

/// Cells that are as fine as lobes are sharp: by the facet that would send `out` to a direction, how far it
/// leans from the normal of its lobe (rings, evenly in the logarithm of the tangent) and where to (sectors).
///
/// A direction may come from several facets: of another lobe, or by way of its mirror image where normals
/// lean. The one that leans least counts, in parts of its lobe's alpha.
class FacetCells {
public:
    static constexpr std::size_t rings = 40, sectors = 8, poles = 3;

    FacetCells(const Bsdf& bsdf, float least_alpha)
        : bsdf_(bsdf),
          lowest_(std::log(double{least_alpha} * 1e-3)),
          poles_{{{bsdf.shading, bsdf.alpha, false},
                  {bsdf.coat_normal, bsdf.coat_chance > 0 ? bsdf.coat_alpha : 0, false},
                  {bsdf.shading, bsdf.glass_chance > 0 ? bsdf.alpha : 0, true}}} {
        find_cuts();
    }

    static constexpr std::size_t count() { return poles * rings * sectors; }
    [[nodiscard]] std::size_t cell_of(Float3 in) const {
        const Place place = place_of(in);
        const auto ring = std::clamp<std::ptrdiff_t>(
            static_cast<std::ptrdiff_t>(std::floor((place.log_tangent - lowest_) / ring_height())), 0,
            rings - 1);
        const auto sector = std::min(sectors - 1, static_cast<std::size_t>(place.turn * sectors));
        return (place.pole * rings + static_cast<std::size_t>(ring)) * sectors + sector;
    }
    /// Whether other lobes, or total reflection, have a part of the cell.
    [[nodiscard]] bool is_cut(std::size_t cell) const { return is_cut_[cell]; }
    /// The integral of a density over each cell.
    template <class Density>
    [[nodiscard]] std::vector<double> integrals(const Density& density) const {
        std::vector<double> sums(count(), 0.0);
        for (std::size_t pole = 0; pole < poles; ++pole)
            for_each_point(pole, [&](std::size_t, Float3 in, double area) {
                if (area > 0) sums[cell_of(in)] += area * density(in);
            });
        return sums;
    }

private:
    struct Pole {
        Float3 normal;
        float alpha; ///< 0: there is no such lobe
        bool passes;
    };
    struct Place {
        std::size_t pole;
        bool is_image;
        double log_tangent, turn; ///< turn: from 0 to 1
    };

    /// Visits points of a fine grid with the number of their cell, and the solid angle for which they stand:
    /// 0 if they do not count.
    template <class Visit>
    void for_each_point(std::size_t pole, const Visit& visit) const {
        // Of a cell, along each side. With 10, one run in ten calls a lobe wrong that is right.
        constexpr int fine = 30;
        const double height = ring_height() / fine;
        for (std::size_t i = 0; poles_[pole].alpha > 0 && i < rings * fine; ++i)
            for (std::size_t j = 0; j < sectors * fine; ++j) {
                const std::size_t cell = (pole * rings + i / fine) * sectors + j / fine;
                const double tangent = std::exp(lowest_ + (static_cast<double>(i) + 0.5) * height);
                const double turn = (static_cast<double>(j) + 0.5) / (sectors * fine);
                // sine d(angle) d(turn)
                const double area = tangent * tangent / std::pow(1 + tangent * tangent, 1.5) * height * 2 *
                                    std::numbers::pi / (sectors * fine);
                double stretch = 0;
                const Point way = sent_by(pole, tangent, turn, stretch);
                // What would come to the wrong side of the triangle is mirrored.
                const Point normal = wide(bsdf_.normal);
                const double rise = dot(way, normal);
                const bool is_wrong = (rise > 0) == poles_[pole].passes;
                const Float3 in = rounded(is_wrong ? way - normal * (2 * rise) : way);
                if (stretch > 0) {
                    const Place place = place_of(in);
                    if (place.pole != pole || place.is_image != is_wrong) stretch = 0; // it counts elsewhere
                }
                visit(cell, in, area * stretch);
            }
    }
    void find_cuts() {
        std::vector<bool> has_part(count()), lacks_part(count());
        for (std::size_t pole = 0; pole < poles; ++pole)
            for_each_point(pole, [&](std::size_t cell, Float3, double area) {
                if (area > 0)
                    has_part[cell] = true;
                else
                    lacks_part[cell] = true;
            });
        for (std::size_t i = 0; i < count(); ++i) is_cut_[i] = has_part[i] && lacks_part[i];
    }

    [[nodiscard]] double ring_height() const { return (std::log(1e3) - lowest_) / rings; }
    static double dot(Point a, Point b) { return path_tracer::dot(a, b); }

    /// Where a facet sends `out`, and by how much it stretches solid angles; 0: nowhere.
    [[nodiscard]] Point sent_by(std::size_t number, double tangent, double turn, double& stretch) const {
        const Pole& pole = poles_[number];
        if (!(pole.alpha > 0)) return {};
        Float3 aside, across;
        make_frame(pole.normal, &aside, &across);
        const double angle = 2 * std::numbers::pi * turn;
        const Point facet = normalised(wide(pole.normal) + wide(aside) * (tangent * std::cos(angle)) +
                                       wide(across) * (tangent * std::sin(angle)));
        const Point out = wide(bsdf_.out);
        const double cosine = dot(out, facet), ratio{bsdf_.ratio};
        if (!(cosine > 0)) return {};
        const Point reflected = facet * (2 * cosine) - out, normal = wide(pole.normal);
        if (!pole.passes || bsdf_.is_thin != 0) {
            stretch = dot(reflected, normal) > 0 ? 4 * cosine : 0;
            return pole.passes ? reflected - normal * (2 * dot(reflected, normal)) : reflected;
        }
        const double sine2 = (1 - cosine * cosine) / (ratio * ratio);
        if (!(sine2 < 1)) return {};
        const Point in = facet * (cosine / ratio - std::sqrt(1 - sine2)) - out * (1 / ratio);
        const Point sum = out + in * ratio;
        if (dot(in, normal) < 0) stretch = dot(sum, sum) / (ratio * ratio * -dot(facet, in));
        return in;
    }
    /// The facet that sends `out` there, if there is one.
    [[nodiscard]] bool find_facet(const Pole& pole, Point in, Point& facet) const {
        const Point out = wide(bsdf_.out), normal = wide(pole.normal);
        if (!(pole.alpha > 0) || (dot(in, normal) < 0) != pole.passes) return false;
        if (!pole.passes)
            facet = normalised(out + in);
        else if (bsdf_.is_thin != 0)
            facet = normalised(out + in - normal * (2 * dot(in, normal)));
        else
            facet = normalised((out + in * double{bsdf_.ratio}) * (bsdf_.ratio > 1 ? -1 : 1));
        if (pole.passes && bsdf_.is_thin == 0 && !(dot(facet, out) > 0 && dot(facet, in) < 0)) return false;
        return dot(facet, normal) > 0;
    }
    [[nodiscard]] Place place_of(Float3 direction) const {
        const Point in = wide(direction), normal = wide(bsdf_.normal);
        const bool is_behind = dot(in, normal) < 0;
        Place best{0, false, 0, 0};
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < poles; ++i)
            for (const bool is_image : {false, true}) {
                Point facet{};
                if (poles_[i].passes != is_behind ||
                    !find_facet(poles_[i], is_image ? in - normal * (2 * dot(in, normal)) : in, facet))
                    continue;
                Float3 aside, across;
                make_frame(poles_[i].normal, &aside, &across);
                const double x = dot(facet, wide(aside)), y = dot(facet, wide(across));
                const double tangent = std::hypot(x, y) / dot(facet, wide(poles_[i].normal));
                if (tangent / double{poles_[i].alpha} >= least) continue;
                least = tangent / double{poles_[i].alpha};
                const double turn = std::atan2(y, x) / (2 * std::numbers::pi);
                best = {i, is_image, std::log(tangent), turn < 0 ? turn + 1 : turn};
            }
        return best;
    }

    const Bsdf& bsdf_;
    double lowest_;
    std::array<Pole, poles> poles_;
    std::vector<bool> is_cut_ = std::vector<bool>(count());
};

TEST_F(Materials, TakeDirectionsAsOftenAsTheySayHoweverSharpTheyAre) {
    for (int materials = 0; materials < 10; ++materials) {
        SurfaceDescription surface = any_white();
        surface.base = {0.8f, 0.6f, 0.3f};
        surface.ior = std::max(surface.ior, 1.02f); // floats do not see which facet bends less
        // From the sharpest one that is not smooth.
        const auto sharp = [&] {
            const double least = std::log(double{PATH_TRACER_LEAST_ALPHA} * 1.0001),
                         most = std::log(0.15 * 0.15);
            return static_cast<float>(std::exp(between(least, most) / 2));
        };
        surface.roughness = sharp();
        surface.coat_roughness = sharp();
        if (toss()) {
            surface.sheen = {0.5f, 0.5f, 0.5f};
            surface.sheen_roughness = static_cast<float>(between(0.1, 1));
        }
        const Prepared prepared(surface);
        for (int directions = 0; directions < 2; ++directions) {
            const Float3 out = Prepared::out_at(between(0.2, 1));
            // Seen along its plane, a lobe is a streak, which may be thinner than the cells of another one.
            const auto leaning = [&] {
                for (;;) {
                    const Float3 normal = normalised(vec(static_cast<float>(between(-0.5, 0.5)),
                                                         static_cast<float>(between(-0.5, 0.5)), 1));
                    if (dot_of(normal, out) > 0.2f) return normal;
                }
            };
            const Float3 shading = toss() ? leaning() : vec(0, 0, 1),
                         coat_normal = toss() ? leaning() : shading;
            const bool is_front = toss();
            const Bsdf bsdf = prepared.seen_along(out, {0, 0, 1}, shading, coat_normal, is_front);
            ASSERT_GT(bsdf.alpha, 0);
            ASSERT_GT(bsdf.coat_alpha, 0);
            const FacetCells cells(bsdf, std::min(bsdf.alpha, bsdf.coat_alpha));
            expect_as_often_as_they_say(bsdf, cells, surface, 150'000);
        }
    }
}

TEST_F(Materials, GlassTakesItsShareOfTheWayThroughIt) {
    for (const double absorption : {0.1, 0.7, 3.0}) {
        const auto own = static_cast<float>(absorption);
        SceneBuilder builder; // of index 1, so that rays go straight on, 2 units long
        builder.material({.base = {1, 1, 1}, .transmitted = 1, .ior = 1, .absorption = {own, 0, 2 * own}})
            .box({-10, -10, -1}, {10, 10, 1});
        const PreparedScene slab = prepare_scene(builder.scene());
        Frame frame = small_frame(slab, {{0, 0, 30}, {0, 0, 0}, 0.1f}, 4, 4);
        frame.sky = {1, 1, 1};
        for (const Rgb& pixel : sum_with_producer(slab, frame, 1)) {
            EXPECT_NEAR(double{pixel.r}, std::exp(-2 * absorption), 1e-5);
            EXPECT_NEAR(double{pixel.g}, 1, 1e-5);
            EXPECT_NEAR(double{pixel.b}, std::exp(-4 * absorption), 1e-5);
        }
    }
}

TEST_F(Materials, CoatsTakeTheirShareOfEmission) {
    for (int i = 0; i < 20; ++i) {
        const double coat = between(0, 1), height = between(0.2, 20);
        SurfaceDescription lamp = lambert(0, 1);
        lamp.coat = static_cast<float>(coat);
        SceneBuilder builder;
        builder.material(lamp).triangle({-1, 0, -1}, {0, 0, 1}, {1, 0, -1});
        const PreparedScene scene = prepare_scene(builder.scene());
        const Frame frame = small_frame(scene, {{3, height, 0}, {0, 0, 0}, 0.001f}, 2, 2);
        const double cosine = height / std::hypot(3, height);
        const double reflected = 0.04 + 0.96 * std::pow(1 - cosine, 5); // as Schlick has it
        for (const Rgb& pixel : sum_with_producer(scene, frame, 1))
            EXPECT_NEAR(double{pixel.r}, 1 - coat * reflected, 1e-4) << coat << ", cosine " << cosine;
    }
}

TEST_F(Materials, GlassTakesItsShareOnTheWayToWhatIsInside) {
    SceneBuilder builder;
    builder.material({.base = {1, 1, 1}, .transmitted = 1, .ior = 1, .absorption = {1, 1, 1}})
        .box({-10, -10, -1}, {10, 10, 1});
    builder.material(lambert(0, 1)).triangle({-5, -5, 0.25}, {5, -5, 0.25}, {0, 5, 0.25});
    const PreparedScene amber = prepare_scene(builder.scene());
    const Frame frame = small_frame(amber, {{0, 0, 30}, {0, 0, 0}, 0.1f}, 4, 4);
    for (const Rgb& pixel : sum_with_producer(amber, frame, 1))
        EXPECT_NEAR(double{pixel.r}, std::exp(-0.75), 1e-5);
}

TEST_F(Materials, FindLampsByShadowRaysAsByChance) {
    for (int scenes = 0; scenes < 12; ++scenes) {
        SurfaceDescription surface = any_white();
        surface.base = {0.7f, 0.7f, 0.7f};
        surface.roughness = static_cast<float>(between(0.2, 1));
        if (toss()) {
            surface.sheen = {0.3f, 0.3f, 0.3f};
            surface.sheen_roughness = 0.5f;
        }
        surface.absorption = {0.5f, 0.5f, 0.5f};
        if (toss()) surface.emission = {0.5f, 0.5f, 0.5f}; // and its inner sides light each other
        SceneBuilder builder;
        builder.material(surface).box({-3, -0.2f, -3}, {3, 0, 3});
        builder.material(lambert(0, 5)).triangle({-1, 1, -2}, {1, 1, -2}, {0, 2.5, -2});
        builder.triangle({-1, -1, -1}, {1, -1, -1}, {0, -1, 1}); // below: seen through glass
        const PreparedScene room = prepare_scene(builder.scene());
        Frame frame = small_frame(room, {{0.5, 1.5, 4}, {0, 0, 0}, 25}, 8, 8);
        frame.max_depth = 4;
        const Estimate by_chance = estimate(room, frame, 2000);
        frame.shadow_rays = 1;
        const Estimate by_rays = estimate(room, frame, 600);
        EXPECT_NEAR(by_rays.mean, by_chance.mean,
                    4.5 * std::hypot(by_rays.standard_error, by_chance.standard_error))
            << "metal " << surface.metallic << ", glass " << surface.transmitted << ", roughness "
            << surface.roughness << ", thin " << surface.is_thin << ", coat " << surface.coat;
    }
}

TEST_F(Materials, PowersAndLogarithmsAreThoseOfTheStandardLibrary) {
    for (int i = 0; i < 20'000; ++i) {
        const auto exponent = static_cast<float>(between(-100, 100));
        EXPECT_NEAR(double{power_of_two(exponent)} / std::exp2(double{exponent}), 1, 4e-7);
        const auto number = static_cast<float>(std::exp2(between(-120, 120)));
        EXPECT_NEAR(double{binary_logarithm(number)}, std::log2(double{number}),
                    4e-7 * (1 + std::abs(std::log2(double{number}))));
    }
}

} // namespace
} // namespace path_tracer::test
