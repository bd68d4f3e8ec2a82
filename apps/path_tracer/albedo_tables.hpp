// apps/path_tracer/albedo_tables.hpp - how much of the light from all around rough surfaces reflect, so that
// layers below get the rest, and what facets reflect to one another is not lost.
//
// Facets of GGX that are hit once lose up to 60 % of the light, which in truth leaves after some more hits.
// Scaling the lobe by what it lacks gives white metal its albedo of 1, as Turquin proposed ("Practical
// multiple scattering compensation for microfacet models", 2019). The value of a pair of directions then
// depends a little on which of them is which.
#pragma once
#include "layout.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace path_tracer {

/// Whether light that facets reflect to one another counts.
enum class Scattering : std::uint8_t { multiple, single };

/// Makes the tables that AlbedoEntry describes. Not thread-safe.
class AlbedoTables {
public:
    explicit AlbedoTables(Scattering scattering);

    void add_facets(); ///< else their table is 0
    void add_fibres(); ///< the same
    /// The place of the tables for glass of this index of refraction, in Finish::glass_table.
    [[nodiscard]] std::uint32_t glass(float ior);
    [[nodiscard]] std::vector<AlbedoEntry> take() { return std::move(entries_); }

private:
    Scattering scattering_;
    std::vector<AlbedoEntry> entries_;
    bool has_facets_ = false, has_fibres_ = false;
    std::vector<float> indices_; ///< of refraction, in the order of their tables
};

} // namespace path_tracer
