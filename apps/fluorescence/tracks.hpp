// apps/fluorescence/tracks.hpp - the fluence: the ways of packets, cell by cell, so that clear layers have it
// too. tracks.cl has it in OpenCL C: change both. Light beyond the grid is in none of its cells.
#pragma once
#include "grid.hpp"
#include "view.hpp"

#include <cmath>

namespace fluorescence {

/// A straight way, from the surface's middle; and its weight, ready for sums.
struct Track {
    float x, y, z, ux, uy, uz;
    float from, to; ///< of it, in cm
    float weight;
    uint32_t random; ///< sums are of whole numbers: the rest of one counts by chance
};

/// As far as it lies between two planes.
HEADRACE_HOST_DEVICE inline void clip(Track& track, float place, float direction, float low, float high) {
    if (direction == 0) {
        if (!(place >= low && place < high)) track.to = track.from;
        return;
    }
    const float a = (low - place) / direction, b = (high - place) / direction;
    track.from = std::fmax(track.from, std::fmin(a, b));
    track.to = std::fmin(track.to, std::fmax(a, b));
}

/// Of a length: how many cells it is from the edge.
HEADRACE_HOST_DEVICE inline uint32_t cell_within(float place, float size, uint32_t cells) {
    const float cell = std::fmin(std::fmax(place / size, 0.0f), 2147483520.0f);
    return cell < static_cast<float>(cells) ? static_cast<uint32_t>(cell) : cells - 1;
}

/// Where on the way the cell ends.
HEADRACE_HOST_DEVICE inline float end_of_cell(float place, float direction, float size, uint32_t cell) {
    if (direction == 0) return 1e38f;
    return (size * static_cast<float>(cell + (direction > 0 ? 1u : 0u)) - place) / direction;
}

HEADRACE_HOST_DEVICE inline void add_track(const GeneralView& view, const Packet& packet, Track& track,
                                           const Cell& cell, float length) {
    const Tissue& tissue = view.tissue;
    track.random = track.random * 1664525u + 1013904223u;
    const float amount = std::fmin(track.weight * length, 0x1p62f);
    auto whole = static_cast<int64_t>(amount);
    const float rest = amount - static_cast<float>(whole); // is exact: small ones count by their chance
    whole += track.random < static_cast<uint32_t>(rest * 0x1p32f) ? 1 : 0;
    const uint64_t plane = uint64_t{wavelength(packet)} * tissue.depths + cell.z;
    if (whole != 0)
        view.fluence.add((plane * tissue.rows + cell.y) * tissue.columns + cell.x,
                         static_cast<uint64_t>(whole));
}

/// Through rings: inwards until the way is nearest to the axis, then outwards.
HEADRACE_HOST_DEVICE inline void follow_track(Rz, const GeneralView& view, const Packet& packet,
                                              Track track) {
    const Tissue& tissue = view.tissue;
    const float dz = view.general.depth_size, dr = view.general.column_size;
    clip(track, track.z, track.uz, 0, dz * static_cast<float>(tissue.depths));
    const float level = track.ux * track.ux + track.uy * track.uy,
                outermost = dr * static_cast<float>(tissue.columns);
    const float aside = track.x * track.uy - track.y * track.ux;
    // Nearest to the axis: where on the way, and how near, squared.
    float middle = 0, nearest = track.x * track.x + track.y * track.y;
    const bool crosses = level > 1e-12f;
    if (crosses) {
        middle = -(track.x * track.ux + track.y * track.uy) / level;
        nearest = aside * aside / level;
    }
    const auto half_way = [&](float radius) { // from the middle to a ring's edge
        return std::sqrt(std::fmax(radius * radius - nearest, 0.0f) / level);
    };
    if (!(nearest < outermost * outermost)) return;
    if (crosses) {
        track.from = std::fmax(track.from, middle - half_way(outermost));
        track.to = std::fmin(track.to, middle + half_way(outermost));
    }
    if (!(track.from < track.to)) return;
    const float x = track.x + track.from * track.ux, y = track.y + track.from * track.uy;
    Cell cell{cell_within(track.z + track.from * track.uz, dz, tissue.depths), 0,
              cell_within(std::sqrt(x * x + y * y), dr, tissue.columns)};
    bool inwards = crosses && track.from < middle;
    for (float at = track.from;;) {
        const float inner = dr * static_cast<float>(cell.x);
        inwards = inwards && inner * inner > nearest;
        const float ring = !crosses  ? 1e38f
                           : inwards ? middle - half_way(inner)
                                     : middle + half_way(inner + dr);
        const float plane = end_of_cell(track.z, track.uz, dz, cell.z);
        const float next = std::fmax(at, std::fmin(std::fmin(ring, plane), track.to));
        add_track(view, packet, track, cell, next - at);
        if (next >= track.to) return;
        at = next;
        if (plane < ring)
            cell.z += track.uz > 0 ? 1u : ~0u;
        else
            cell.x += inwards ? ~0u : 1u;
        if (cell.z >= tissue.depths || cell.x >= tissue.columns) return;
    }
}

HEADRACE_HOST_DEVICE inline void follow_track(Xyz, const GeneralView& view, const Packet& packet,
                                              Track track) {
    const Tissue& tissue = view.tissue;
    const float dz = view.general.depth_size, dy = view.general.row_size, dx = view.general.column_size;
    track.x -= tissue.column_edge;
    track.y -= tissue.row_edge;
    clip(track, track.z, track.uz, 0, dz * static_cast<float>(tissue.depths));
    clip(track, track.y, track.uy, 0, dy * static_cast<float>(tissue.rows));
    clip(track, track.x, track.ux, 0, dx * static_cast<float>(tissue.columns));
    if (!(track.from < track.to)) return;
    Cell cell{cell_within(track.z + track.from * track.uz, dz, tissue.depths),
              cell_within(track.y + track.from * track.uy, dy, tissue.rows),
              cell_within(track.x + track.from * track.ux, dx, tissue.columns)};
    for (float at = track.from;;) {
        const float z = end_of_cell(track.z, track.uz, dz, cell.z),
                    y = end_of_cell(track.y, track.uy, dy, cell.y),
                    x = end_of_cell(track.x, track.ux, dx, cell.x), across = std::fmin(x, y);
        const float next = std::fmax(at, std::fmin(std::fmin(across, z), track.to));
        add_track(view, packet, track, cell, next - at);
        if (next >= track.to) return;
        at = next;
        if (z < across)
            cell.z += track.uz > 0 ? 1u : ~0u;
        else if (y < x)
            cell.y += track.uy > 0 ? 1u : ~0u;
        else
            cell.x += track.ux > 0 ? 1u : ~0u;
        if (cell.z >= tissue.depths || cell.y >= tissue.rows || cell.x >= tissue.columns) return;
    }
}

/// The way of a packet from where it is, `depth` below the surface.
template <class Grid>
HEADRACE_HOST_DEVICE void track(const GeneralView& view, const Packet& packet, float depth, float way,
                                float weight) {
    if (view.general.fluence_scale == 0) return;
    follow_track(Grid{}, view, packet,
                 {packet.x, packet.y, depth, packet.ux, packet.uy, packet.uz, 0, way,
                  weight * view.general.fluence_scale, packet.name ^ (packet.step * 0x9E3779B1u)});
}

/// What came down a clear first layer, and went up again, before the packet began.
template <class Grid>
HEADRACE_HOST_DEVICE void track_beginning(const GeneralView& view, const Packet& packet) {
    if (packet.step != 0 || packet.origin != 0 || view.general.passes_before == 0) return;
    track<Grid>(view, packet, 0, view.layers[0].thickness,
                static_cast<float>(packet.weight) * view.general.passes_before);
}

} // namespace fluorescence
