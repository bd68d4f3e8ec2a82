// tests/apps/reference_surface.hpp - what a material does to light, from the formulas of glTF 2.0 and of the
// papers that it names, in double precision.
//
// What layers let through and what facets reflect to one another is as apps/path_tracer/bsdf.h documents it:
// a layer lets through what it does not reflect of light from all around, as it is seen. All of these albedos
// are integrated here.
#pragma once
#include "apps/reference_scene.hpp"

#include <array>
#include <functional>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace path_tracer::test {

using ReferenceRandom = std::mt19937_64;
/// From 0 to 1.
inline double uniform(ReferenceRandom& random) { return std::uniform_real_distribution<double>()(random); }

/// What rough surfaces send on of light from all around, by the cosine at which they are seen.
class ReferenceAlbedos {
public:
    struct Facets {
        double all;  ///< of facets that reflect everything
        double edge; ///< of facets that reflect (1 - cosine)^5
    };
    [[nodiscard]] Facets facets(double cosine, double alpha);
    /// Glass that reflects, and refracts with this index on the far side over that on the near side.
    [[nodiscard]] double glass(double cosine, double alpha, double ratio);
    [[nodiscard]] double fibres(double cosine, double alpha);

private:
    /// Values at cosines (i / steps)^2, which are not computed before they are used.
    using Curve = std::vector<double>;
    static double at(Curve& curve, double cosine, const std::function<double(double)>& value);

    std::map<double, std::pair<Curve, Curve>> facets_;
    std::map<double, Curve> fibres_;
    std::map<std::pair<double, double>, Curve> glass_;
};

/// A material at a point, seen along `out`.
class ReferenceSurface {
public:
    /// `normal`: of the triangle, on the side of `out`. `shading`: on either side
    ReferenceSurface(const ReferenceMaterial& material, ReferenceAlbedos& albedos, Vector out, Vector normal,
                     Vector shading, bool is_front);

    /// The BSDF for light from `in`, times its cosine, without what goes in one direction alone.
    [[nodiscard]] Vector value(Vector in) const;

    struct Choice {
        Vector in, weight;
        bool passes; ///< to the other side
    };
    [[nodiscard]] Choice choose(ReferenceRandom& random) const;

private:
    enum class Lobe { lambert, facets, coat }; ///< facets mirror, and glass refracts on them

    [[nodiscard]] Vector lambert(Vector in) const;
    [[nodiscard]] Vector above(Vector in) const;
    [[nodiscard]] Vector below(Vector in) const;
    [[nodiscard]] double density(Vector in) const;
    [[nodiscard]] Vector refracting_facet(Vector in) const;
    [[nodiscard]] double through_density(Vector in) const;
    [[nodiscard]] Vector seen_facet(double alpha, ReferenceRandom& random) const;
    [[nodiscard]] Vector drawn(Lobe lobe, ReferenceRandom& random, bool& passes) const;
    [[nodiscard]] Choice chosen_smooth(Lobe lobe, ReferenceRandom& random) const;
    [[nodiscard]] bool is_smooth(Lobe lobe) const;
    [[nodiscard]] Vector reflectance(double cosine) const;
    [[nodiscard]] double mirror_chance(double cosine) const;
    [[nodiscard]] double chance(Lobe lobe) const { return chances_[static_cast<std::size_t>(lobe)]; }

    Vector out_, normal_, shading_;
    double out_cosine_; ///< to the shading normal
    double alpha_, coat_alpha_, sheen_alpha_ = 1;
    double ratio_;
    bool is_thin_;
    Vector diffuse_{0, 0, 0}, head_on_{0, 0, 0}, edge_{0, 0, 0}, sheen_{0, 0, 0}, tint_{0, 0, 0};
    double glass_ = 0, coat_ = 0;
    std::array<double, 3> chances_{}; ///< of lobes, by what they send on
};

} // namespace path_tracer::test
