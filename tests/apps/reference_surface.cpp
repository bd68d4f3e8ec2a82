// tests/apps/reference_surface.cpp - see reference_surface.hpp.
//
// Sources  Khronos, "glTF 2.0", appendix B; "KHR_materials_sheen"; Walter et al., "Microfacet models for
//          refraction through rough surfaces", EGSR 2007; Turquin, "Practical multiple scattering
//          compensation for microfacet models", 2019
#include "apps/reference_surface.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace path_tracer::test {
namespace {

constexpr double pi = std::numbers::pi;
constexpr Vector white{1, 1, 1};

double largest(Vector a) { return std::max({a.x, a.y, a.z}); }

/// Below the square of 0.032 a surface is smooth.
double alpha_of(double roughness) { return roughness * roughness < 1e-3 ? 0 : roughness * roughness; }

Vector around(Vector pole, double cosine, double turn) {
    const Vector aside = unit(cross(std::abs(pole.x) < 0.5 ? Vector{1, 0, 0} : Vector{0, 1, 0}, pole));
    const double sine = std::sqrt(std::max(0.0, 1 - cosine * cosine));
    return cosine * pole + (sine * std::cos(turn)) * aside + (sine * std::sin(turn)) * cross(pole, aside);
}

// ---- GGX, by angles

double tangent2(double cosine) { return (1 - cosine * cosine) / (cosine * cosine); }
double distribution(double cosine, double alpha) {
    if (cosine <= 0) return 0;
    const double spread = alpha * alpha + tangent2(cosine);
    return alpha * alpha / (pi * std::pow(cosine, 4) * spread * spread);
}
double lambda(double cosine, double alpha) {
    return (std::sqrt(1 + alpha * alpha * tangent2(cosine)) - 1) / 2;
}
/// Masking from both directions on one side, and from one.
double masking(double out, double in, double alpha) {
    return 1 / (1 + lambda(out, alpha) + lambda(in, alpha));
}
double masking(double cosine, double alpha) { return 1 / (1 + lambda(cosine, alpha)); }
/// The cosine of a facet, of which a share `number` of those seen from above lean less.
double facet_cosine(double number, double alpha) {
    return 1 / std::sqrt(1 + alpha * alpha * number / (1 - number));
}

double schlick(double cosine) { return std::pow(1 - std::clamp(cosine, 0.0, 1.0), 5); }

/// Snell and Fresnel by angles. `ratio`: index on the far side over that on the near side
double fresnel(double cosine, double ratio) {
    const double angle = std::acos(std::clamp(cosine, 0.0, 1.0)), sine = std::sin(angle) / ratio;
    if (sine >= 1) return 1;
    if (angle < 1e-6) return std::pow((1 - ratio) / (1 + ratio), 2);
    if (ratio == 1) return 0;
    const double refracted = std::asin(sine);
    const double s = std::sin(angle - refracted) / std::sin(angle + refracted);
    const double p = std::tan(angle - refracted) / std::tan(angle + refracted);
    return (s * s + p * p) / 2;
}
/// Behind the boundary; nothing that is a number under total reflection.
Vector refracted(Vector out, Vector facet, double ratio) {
    const Vector along = 1 / ratio * (dot(out, facet) * facet - out);
    return along - std::sqrt(1 - dot(along, along)) * facet;
}

// ---- fibres

double fibre_lambda(double cosine, double alpha) {
    const double t = (1 - alpha) * (1 - alpha);
    const auto l = [t](double x) {
        return std::lerp(21.5473, 25.3245, t) /
                   (1 + std::lerp(3.82987, 3.32435, t) * std::pow(x, std::lerp(0.19823, 0.16801, t))) +
               std::lerp(-1.97760, -1.27393, t) * x + std::lerp(-4.32054, -4.85967, t);
    };
    return std::exp(cosine < 0.5 ? l(cosine) : 2 * l(0.5) - l(1 - cosine));
}
/// Times the cosine of `in`. Visibility ends at 1, as in Khronos' own viewer.
double by_fibres(Vector out, Vector in, Vector normal, double alpha) {
    const double cosine_out = dot(out, normal), cosine_in = dot(in, normal),
                 half = dot(unit(out + in), normal);
    const double sine = std::sqrt(std::max(0.0, 1 - half * half));
    const double density = (2 + 1 / alpha) * std::pow(sine, 1 / alpha) / (2 * pi);
    const double seen = 1 / ((1 + fibre_lambda(cosine_out, alpha) + fibre_lambda(cosine_in, alpha)) * 4 *
                             cosine_out * cosine_in);
    return density * std::min(seen, 1.0) * cosine_in;
}

// ---- albedos

constexpr Vector up{0, 0, 1};
Vector leaning(double cosine) { return {std::sqrt(1 - cosine * cosine), 0, cosine}; }

/// The mean over facets, as often as they are seen from above, of `sent`, times what a facet is seen larger
/// along `out`.
template <class Sent>
double mean_over_facets(Vector out, double alpha, const Sent& sent) {
    constexpr int heights = 400, turns = 100; // of half a turn: the other one is its mirror image
    double sum = 0;
    for (int i = 0; i < heights; ++i) {
        // More of the last ones, which lean most.
        const double part = (i + 0.5) / heights, number = 1 - (1 - part) * (1 - part);
        const double cosine = facet_cosine(number, alpha), weight = 2 * (1 - part);
        for (int j = 0; j < turns; ++j) {
            const double turn = pi * (j + 0.5) / turns, sine = std::sqrt(1 - cosine * cosine);
            const Vector facet{sine * std::cos(turn), sine * std::sin(turn), cosine};
            const double seen = dot(out, facet);
            if (seen > 0) sum += weight * seen / (out.z * cosine) * sent(facet);
        }
    }
    return sum / (heights * turns);
}

template <class Passing>
double facet_albedo(double cosine, double alpha, const Passing& reflectance) {
    const Vector out = leaning(cosine);
    return mean_over_facets(out, alpha, [&](Vector facet) {
        const double in = -mirrored(out, facet).z;
        return in > 0 ? masking(cosine, in, alpha) * reflectance(dot(out, facet)) : 0;
    });
}

} // namespace

double ReferenceAlbedos::at(Curve& curve, double cosine, const std::function<double(double)>& value) {
    constexpr int steps = 64;
    curve.resize(steps + 1, -1);
    const double place = std::sqrt(std::clamp(cosine, 0.0, 1.0)) * steps;
    const int left = std::min(static_cast<int>(place), steps - 1);
    const auto known = [&](int i) {
        double& number = curve[static_cast<std::size_t>(i)];
        if (number < 0) number = value(std::max(std::pow(static_cast<double>(i) / steps, 2), 1e-4));
        return number;
    };
    return std::lerp(known(left), known(left + 1), place - left);
}

ReferenceAlbedos::Facets ReferenceAlbedos::facets(double cosine, double alpha) {
    if (alpha == 0) return {1, schlick(cosine)};
    auto& [all, edge] = facets_[alpha];
    return {at(all, cosine, [&](double c) { return facet_albedo(c, alpha, [](double) { return 1.0; }); }),
            at(edge, cosine, [&](double c) { return facet_albedo(c, alpha, schlick); })};
}

double ReferenceAlbedos::glass(double cosine, double alpha, double ratio) {
    return at(glass_[{alpha, ratio}], cosine, [&](double c) {
        const Vector out = leaning(c);
        const double passing = mean_over_facets(out, alpha, [&](Vector facet) {
            const double mirrors = fresnel(dot(out, facet), ratio);
            if (mirrors == 1) return 0.0;
            const double in = -refracted(out, facet, ratio).z;
            return in > 0 ? (1 - mirrors) * masking(c, alpha) * masking(in, alpha) : 0.0;
        });
        return passing + facet_albedo(c, alpha, [&](double facet) { return fresnel(facet, ratio); });
    });
}

double ReferenceAlbedos::fibres(double cosine, double alpha) {
    return at(fibres_[alpha], cosine, [&](double c) {
        constexpr int heights = 200, turns = 100;
        double sum = 0;
        for (int i = 0; i < heights; ++i)
            for (int j = 0; j < turns; ++j) {
                const double part = (i + 0.5) / heights, turn = 2 * pi * (j + 0.5) / turns;
                const Vector in = around(up, part * part, turn);
                sum += 2 * part * by_fibres(leaning(c), in, up, alpha);
            }
        return sum * 2 * pi / (heights * turns);
    });
}

ReferenceSurface::ReferenceSurface(const ReferenceMaterial& material, ReferenceAlbedos& albedos, Vector out,
                                   Vector normal, Vector shading, bool is_front)
    : out_(out), normal_(normal), shading_(dot(shading, normal) < 0 ? -1 * shading : shading) {
    constexpr double least = 0.01; // a surface that is met is seen
    if (dot(shading_, out) < least) shading_ = unit(shading_ + (least - dot(shading_, out)) * out);
    out_cosine_ = std::min(dot(shading_, out), 1.0);
    alpha_ = alpha_of(material.roughness);
    coat_alpha_ = alpha_of(material.coat_roughness);
    is_thin_ = material.is_thin;
    ratio_ = is_front || is_thin_ ? material.ior : 1 / material.ior;

    double layers = 1; // the share of light that comes to what is next
    if (material.coat > 0) {
        constexpr double head_on = 0.04;
        const auto albedo = albedos.facets(out_cosine_, coat_alpha_);
        coat_ = material.coat * (1 + head_on * (1 - albedo.all) / albedo.all);
        layers -= std::min(1.0, coat_ * (head_on * (albedo.all - albedo.edge) + albedo.edge));
        chances_[static_cast<std::size_t>(Lobe::coat)] = 1 - layers;
    }
    if (largest(material.sheen) > 0) {
        const double roughness = std::max(material.sheen_roughness, 0.1);
        sheen_alpha_ = roughness * roughness;
        const double albedo = albedos.fibres(out_cosine_, sheen_alpha_), kept = std::min(1.0, 1 / albedo);
        sheen_ = kept * layers * material.sheen;
        layers *= std::max(0.0, 1 - largest(material.sheen) * kept * albedo);
    }
    const auto albedo = albedos.facets(out_cosine_, alpha_);
    const double missing = (1 - albedo.all) / albedo.all;
    // Facets reflect once, and what they keep among themselves once more with their colour.
    const auto add_facets = [&](Vector head_on, double edge, double share) {
        const Vector again = white + missing * head_on;
        head_on_ = head_on_ + share * (head_on * again);
        edge_ = edge_ + share * edge * again;
        return std::min(1.0,
                        largest(again * ((albedo.all - albedo.edge) * head_on + edge * albedo.edge * white)));
    };
    const double metal = material.metallic, glass = (1 - metal) * material.transmission,
                 matt = (1 - metal) * (1 - material.transmission);
    if (metal > 0) add_facets(material.base, 1, layers * metal);
    if (largest(material.mirror) > 0) {
        head_on_ = head_on_ + layers * material.mirror;
        edge_ = edge_ + layers * material.mirror;
    }
    diffuse_ = layers * matt * material.base;
    if (material.edge > 0 && matt > 0)
        diffuse_ = (1 - add_facets(material.head_on, material.edge, layers * matt)) * diffuse_;
    if (glass > 0) {
        double boost = 1;
        if (alpha_ > 0) boost = is_thin_ ? 1 + missing : 1 / albedos.glass(out_cosine_, alpha_, ratio_);
        glass_ = layers * glass * boost;
        tint_ = glass_ * material.base;
    }
    chances_[static_cast<std::size_t>(Lobe::facets)] =
        layers * glass + largest((albedo.all - albedo.edge) * head_on_ + albedo.edge * edge_);
    chances_[static_cast<std::size_t>(Lobe::lambert)] = largest(diffuse_) + largest(sheen_);
    double all = 0;
    for (const double chance : chances_) all += chance;
    for (double& chance : chances_) chance = all > 0 ? chance / all : 0;
}

/// Of facets, and of the glass that they are.
Vector ReferenceSurface::reflectance(double cosine) const {
    const double by_glass = glass_ > 0 ? glass_ * fresnel(cosine, ratio_) : 0;
    return head_on_ + schlick(cosine) * (edge_ - head_on_) + by_glass * white;
}

/// That a facet mirrors, and does not refract.
double ReferenceSurface::mirror_chance(double cosine) const {
    if (glass_ == 0) return 1;
    const double mirrors = largest(reflectance(cosine)),
                 passes = largest(tint_) * (1 - fresnel(cosine, ratio_));
    return mirrors / (mirrors + passes);
}

/// The part of the lobe that is below the triangle is lost, and the rest as much brighter.
Vector ReferenceSurface::lambert(Vector in) const {
    const double cosine = dot(in, shading_);
    if (!(cosine > 0 && dot(in, normal_) > 0)) return {0, 0, 0};
    return (cosine / pi * 2 / (1 + dot(shading_, normal_))) * diffuse_;
}

/// What is reflected on the side of the shading normal.
Vector ReferenceSurface::above(Vector in) const {
    const double cosine = dot(in, shading_);
    if (!(cosine > 0)) return {0, 0, 0};
    const Vector facet = unit(out_ + in);
    const double facet_out = dot(facet, out_), facet_cosine = dot(facet, shading_);
    const auto facets = [&](double alpha) {
        return distribution(facet_cosine, alpha) * masking(out_cosine_, cosine, alpha) / (4 * out_cosine_);
    };
    Vector sum{0, 0, 0};
    if (alpha_ > 0) sum = facets(alpha_) * reflectance(facet_out);
    if (largest(sheen_) > 0) sum = sum + by_fibres(out_, in, shading_, sheen_alpha_) * sheen_;
    if (coat_alpha_ > 0) sum = sum + facets(coat_alpha_) * coat_ * (0.04 + 0.96 * schlick(facet_out)) * white;
    return sum;
}

/// The facet that refracts light from `in`, on the side of `out` if there is one.
Vector ReferenceSurface::refracting_facet(Vector in) const {
    if (is_thin_) return unit(out_ + mirrored(in, shading_));
    return unit((ratio_ > 1 ? -1 : 1) * (out_ + ratio_ * in));
}

/// What is refracted on the other side of it. Panes send it on as if they mirrored it.
Vector ReferenceSurface::below(Vector in) const {
    const double cosine = -dot(in, shading_);
    if (!(cosine > 0 && glass_ > 0 && alpha_ > 0)) return {0, 0, 0};
    const Vector facet = refracting_facet(in);
    const double passes = 1 - fresnel(dot(facet, out_), ratio_), from_out = masking(out_cosine_, alpha_);
    const double unhidden =
        is_thin_ ? masking(out_cosine_, cosine, alpha_) / from_out : masking(cosine, alpha_);
    return (through_density(in) * passes * unhidden) * tint_;
}

bool ReferenceSurface::is_smooth(Lobe lobe) const {
    return lobe == Lobe::coat ? coat_alpha_ == 0 : lobe != Lobe::lambert && alpha_ == 0;
}

/// A facet, as often as it is seen along `out`. Stretched by 1 / alpha, facets are those of a half ball, of
/// which each is seen as its cosine to `out` says; those of the other half are thrown away.
Vector ReferenceSurface::seen_facet(double alpha, ReferenceRandom& random) const {
    const Vector across = alpha * out_ + ((1 - alpha) * out_cosine_) * shading_;
    for (;;) {
        const Vector facet = around(unit(across), std::sqrt(uniform(random)), 2 * pi * uniform(random));
        const double rise = dot(facet, shading_);
        if (rise > 0) return unit(alpha * facet + ((1 - alpha) * rise) * shading_);
    }
}

Vector ReferenceSurface::drawn(Lobe lobe, ReferenceRandom& random, bool& passes) const {
    passes = false;
    if (lobe == Lobe::lambert) return around(shading_, std::sqrt(uniform(random)), 2 * pi * uniform(random));
    const Vector facet = seen_facet(lobe == Lobe::coat ? coat_alpha_ : alpha_, random);
    const Vector reflected = -1 * mirrored(out_, facet);
    passes = lobe == Lobe::facets && uniform(random) >= mirror_chance(dot(out_, facet));
    if (!passes) return reflected;
    return is_thin_ ? mirrored(reflected, shading_) : refracted(out_, facet, ratio_);
}

/// Per solid angle of `in` behind the surface, with which seen facets refract it.
double ReferenceSurface::through_density(Vector in) const {
    const Vector facet = refracting_facet(in);
    const double seen =
        masking(out_cosine_, alpha_) * distribution(dot(facet, shading_), alpha_) / out_cosine_;
    if (is_thin_) return seen / 4;
    if (!(dot(facet, out_) > 0 && dot(facet, in) < 0)) return 0;
    const Vector sum = out_ + ratio_ * in;
    return seen * dot(facet, out_) * ratio_ * ratio_ * -dot(facet, in) / dot(sum, sum);
}

/// Per solid angle, with which all lobes that have one come to `in`.
double ReferenceSurface::density(Vector in) const {
    const double cosine = dot(in, shading_);
    if (cosine < 0) {
        if (!(glass_ > 0 && alpha_ > 0)) return 0;
        return chance(Lobe::facets) * (1 - mirror_chance(dot(refracting_facet(in), out_))) *
               through_density(in);
    }
    const Vector facet = unit(out_ + in);
    const auto by_facets = [&](double alpha) {
        return masking(out_cosine_, alpha) * distribution(dot(facet, shading_), alpha) / (4 * out_cosine_);
    };
    double sum = chance(Lobe::lambert) * cosine / pi;
    if (alpha_ > 0 && chance(Lobe::facets) > 0)
        sum += chance(Lobe::facets) * mirror_chance(dot(facet, out_)) * by_facets(alpha_);
    if (coat_alpha_ > 0) sum += chance(Lobe::coat) * by_facets(coat_alpha_);
    return sum;
}

/// A mirrored direction is lifted above the triangle, and the facet is the one that mirrors so.
ReferenceSurface::Choice ReferenceSurface::chosen_smooth(Lobe lobe, ReferenceRandom& random) const {
    constexpr double least = 1e-6;
    Vector in = -1 * mirrored(out_, shading_);
    if (dot(in, normal_) < least) in = unit(in + (least - dot(in, normal_)) * normal_);
    const Vector facet = unit(in + out_);
    const double cosine = dot(facet, out_);
    if (lobe == Lobe::coat) // it reflects just what it takes from what is below
        return {in, coat_ * (0.04 + 0.96 * schlick(out_cosine_)) / chance(lobe) * white, false};
    const double mirrors = mirror_chance(cosine);
    if (uniform(random) < mirrors) return {in, 1 / (mirrors * chance(lobe)) * reflectance(cosine), false};
    Vector behind = is_thin_ ? -1 * out_ : refracted(out_, facet, ratio_);
    if (dot(behind, normal_) > 0) behind = mirrored(behind, normal_);
    return {behind, (1 - fresnel(cosine, ratio_)) / ((1 - mirrors) * chance(lobe)) * tint_, true};
}

ReferenceSurface::Choice ReferenceSurface::choose(ReferenceRandom& random) const {
    constexpr Choice nothing{{0, 0, 1}, {0, 0, 0}, false};
    double number = uniform(random);
    auto lobe = Lobe::coat;
    for (const Lobe other : {Lobe::lambert, Lobe::facets}) {
        if (number < chance(other)) {
            lobe = other;
            break;
        }
        number -= chance(other);
    }
    if (!(chance(lobe) > 0)) return nothing; // it is black
    if (is_smooth(lobe)) return chosen_smooth(lobe, random);
    bool passes;
    const Vector in = drawn(lobe, random, passes);
    if ((dot(in, shading_) < 0) != passes) return nothing; // other facets hide it
    const double all = density(in);
    if (!(all > 0)) return nothing;
    // What would lead to the wrong side of the triangle is mirrored to the other one.
    const Vector weight = 1 / all * (passes ? below(in) : lambert(in) + above(in));
    const bool is_wrong = (dot(in, normal_) < 0) != passes;
    return {is_wrong ? mirrored(in, normal_) : in, weight, passes};
}

Vector ReferenceSurface::value(Vector in) const {
    const Vector image = mirrored(in, normal_);
    // Without a lean, one of the two is on the side where there is nothing.
    return dot(in, normal_) > 0 ? lambert(in) + above(in) + above(image) : below(in) + below(image);
}

} // namespace path_tracer::test
