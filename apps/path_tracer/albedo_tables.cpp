// apps/path_tracer/albedo_tables.cpp - see albedo_tables.hpp. What is averaged is what kernels compute.
#include "albedo_tables.hpp"
#include "microfacets.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

namespace path_tracer {
namespace {

constexpr std::size_t steps = PATH_TRACER_ALBEDO_STEPS, entries_of_table = steps * steps;

/// Of an entry of a table.
struct Place {
    Float3 out;
    float cosine, alpha;

    explicit Place(std::size_t entry) {
        const auto part = [](std::size_t step) {
            return static_cast<float>(step) / static_cast<float>(steps - 1);
        };
        cosine = std::max(part(entry % steps) * part(entry % steps), 1e-4f);
        alpha = std::max(part(entry / steps) * part(entry / steps), PATH_TRACER_LEAST_ALPHA);
        out = {std::sqrt(1 - cosine * cosine), 0, cosine};
    }
};
constexpr Float3 normal{0, 0, 1};

/// Visits facets as visible_facet takes them, with random numbers of a Fibonacci lattice: a mean over it is
/// right to 1e-3, and a grid's is not.
template <class Visit>
void for_each_facet(const Place& place, const Visit& visit) {
    constexpr std::uint32_t count = 1597, before = 987; // numbers of Fibonacci
    for (std::uint32_t i = 0; i < count; ++i)
        visit(visible_facet(place.out, normal, place.alpha, (static_cast<float>(i) + 0.5f) / count,
                            static_cast<float>(i * before % count) / count),
              1.0 / count);
}

/// The share of what one facet sends to `in` that comes past the others.
double unhidden(const Place& place, Float3 facet, Float3 in) {
    if (!(in.z > 0)) return 0;
    const float density = facet_density(normal, facet, place.alpha);
    return double{reflected_by_facets(density, place.cosine, in.z, place.alpha)} /
           double{reflected_facet_density(density, place.cosine, place.alpha)};
}

AlbedoEntry entry_of_facets(const Place& place) {
    double all = 0, edge = 0;
    for_each_facet(place, [&](Float3 facet, double weight) {
        const double passes = weight * unhidden(place, facet, mirrored_at(place.out, facet));
        all += passes;
        edge += passes * double{edge_share(dot_of(place.out, facet))};
    });
    return {static_cast<float>(all - edge), static_cast<float>(edge), static_cast<float>((1 - all) / all), 0};
}

AlbedoEntry entry_of_glass(const Place& place, float ratio) {
    double all = 0;
    for_each_facet(place, [&](Float3 facet, double weight) {
        const float cosine = std::min(dot_of(place.out, facet), 1.0f);
        float cosine_in_far = 0;
        const double mirrors = double{fresnel(cosine, ratio, &cosine_in_far)};
        all += weight * mirrors * unhidden(place, facet, mirrored_at(place.out, facet));
        if (mirrors == 1) return;
        const Float3 in = refracted_at(place.out, facet, cosine, ratio, cosine_in_far);
        if (in.z < 0) all += weight * (1 - mirrors) * double{unmasked(-in.z, place.alpha)};
    });
    return {0, 0, static_cast<float>(1 / all), 0};
}

AlbedoEntry entry_of_fibres(const Place& place) {
    constexpr int heights = 64, turns = 64;
    double sum = 0;
    for (int i = 0; i < heights; ++i) {
        const double part = (i + 0.5) / heights, cosine = part * part; // more of them where they are low
        const double weight = 2 * part / heights * 2 * std::numbers::pi / turns;
        for (int j = 0; j < turns; ++j) {
            const double angle = 2 * std::numbers::pi * (j + 0.5) / turns,
                         sine = std::sqrt(1 - cosine * cosine);
            const Float3 in{static_cast<float>(sine * std::cos(angle)),
                            static_cast<float>(sine * std::sin(angle)), static_cast<float>(cosine)};
            sum +=
                weight * double{reflected_by_fibres(place.out, in, normal, place.alpha, place.cosine, in.z)};
        }
    }
    return {static_cast<float>(sum), 0, 0, 0};
}

template <class EntryOf>
void fill(AlbedoEntry* table, const EntryOf& entry_of) {
    tbb::parallel_for(std::size_t{0}, entries_of_table,
                      [&](std::size_t i) { table[i] = entry_of(Place(i)); });
}

} // namespace

AlbedoTables::AlbedoTables(Scattering scattering)
    : scattering_(scattering), entries_(PATH_TRACER_FIRST_GLASS_TABLE * entries_of_table) {}

void AlbedoTables::add_facets() {
    if (std::exchange(has_facets_, true)) return;
    fill(entries_.data(), [this](const Place& at) {
        AlbedoEntry entry = entry_of_facets(at);
        if (scattering_ == Scattering::single) entry.boost = 0;
        return entry;
    });
}

void AlbedoTables::add_fibres() {
    if (std::exchange(has_fibres_, true)) return;
    fill(entries_.data() + PATH_TRACER_FIBRE_TABLE * entries_of_table, entry_of_fibres);
}

std::uint32_t AlbedoTables::glass(float ior) {
    const auto known = std::find(indices_.begin(), indices_.end(), ior);
    const auto place =
        static_cast<std::uint32_t>(PATH_TRACER_FIRST_GLASS_TABLE + 2 * (known - indices_.begin()));
    if (known != indices_.end()) return place;
    indices_.push_back(ior);
    entries_.resize(entries_.size() + 2 * entries_of_table);
    AlbedoEntry* table = entries_.data() + place * entries_of_table;
    for (const float ratio : {ior, 1 / ior}) {
        fill(table, [ratio, this](const Place& at) {
            return scattering_ == Scattering::multiple ? entry_of_glass(at, ratio) : AlbedoEntry{0, 0, 1, 0};
        });
        table += entries_of_table;
    }
    return place;
}

} // namespace path_tracer
