// apps/fluorescence/tracks.h - the fluence: the ways of packets, cell by cell, so that clear layers have it
// too. Light beyond the grid is in none of its cells. C++ and OpenCL C read this file, after the kernel's
// view.
#ifndef HEADRACE_FLUORESCENCE_TRACKS_H
#define HEADRACE_FLUORESCENCE_TRACKS_H
#include "grid.h"

HEADRACE_NAMESPACE(fluorescence)

/// A straight way, from the surface's middle; and its weight, ready for sums.
typedef struct Track {
    float x, y, z, ux, uy, uz;
    float from, to; ///< of it, in cm
    float weight;
    uint32_t random; ///< sums are of whole numbers: the rest of one counts by chance
} Track;

/// As far as it lies between two planes.
HEADRACE_FUNCTION void clip(Track* track, float place, float direction, float low, float high) {
    if (direction == 0) {
        if (!(place >= low && place < high)) track->to = track->from;
        return;
    }
    const float a = (low - place) / direction, b = (high - place) / direction;
    track->from = fmax(track->from, fmin(a, b));
    track->to = fmin(track->to, fmax(a, b));
}

/// Of a length: how many cells it is from the edge.
HEADRACE_FUNCTION uint32_t cell_within(float place, float size, uint32_t cells) {
    const float cell = fmin(fmax(place / size, 0.0f), 2147483520.0f);
    return cell < (float)cells ? (uint32_t)cell : cells - 1;
}

/// Where on the way the cell ends.
HEADRACE_FUNCTION float end_of_cell(float place, float direction, float size, uint32_t cell) {
    if (direction == 0) return 1e38f;
    return (size * (float)(cell + (direction > 0 ? 1u : 0u)) - place) / direction;
}

HEADRACE_FUNCTION void add_track(HEADRACE_ANY(const TissueView*) view, const Packet* packet, Track* track,
                                 Cell cell, float length) {
    const Tissue* tissue = &view->tissue;
    track->random = track->random * 1664525u + 1013904223u;
    const float amount = fmin(track->weight * length, 0x1p62f);
    int64_t whole = (int64_t)amount;
    const float rest = amount - (float)whole; // is exact: small ones count by their chance
    whole += track->random < (uint32_t)(rest * 0x1p32f) ? 1 : 0;
    const uint64_t plane = (uint64_t)wavelength(packet) * tissue->depths + cell.z;
    if (whole != 0)
        add_to_fluence(view, (plane * tissue->rows + cell.y) * tissue->columns + cell.x, (uint64_t)whole);
}

/// From the way's nearest place to the axis, whose square is `nearest`, to a ring's edge.
HEADRACE_FUNCTION float half_way(float radius, float nearest, float level) {
    return sqrt(fmax(radius * radius - nearest, 0.0f) / level);
}

/// Through rings: inwards until the way is nearest to the axis, then outwards.
HEADRACE_FUNCTION void follow_track_rz(HEADRACE_ANY(const TissueView*) view, const Packet* packet,
                                       Track track) {
    const Tissue* tissue = &view->tissue;
    const float dz = view->general.depth_size, dr = view->general.column_size;
    clip(&track, track.z, track.uz, 0, dz * (float)tissue->depths);
    const float level = track.ux * track.ux + track.uy * track.uy, outermost = dr * (float)tissue->columns;
    const float aside = track.x * track.uy - track.y * track.ux;
    // Nearest to the axis: where on the way, and how near, squared.
    float middle = 0, nearest = track.x * track.x + track.y * track.y;
    const bool crosses = level > 1e-12f;
    if (crosses) {
        middle = -(track.x * track.ux + track.y * track.uy) / level;
        nearest = aside * aside / level;
    }
    if (!(nearest < outermost * outermost)) return;
    if (crosses) {
        track.from = fmax(track.from, middle - half_way(outermost, nearest, level));
        track.to = fmin(track.to, middle + half_way(outermost, nearest, level));
    }
    if (!(track.from < track.to)) return;
    const float x = track.x + track.from * track.ux, y = track.y + track.from * track.uy;
    Cell cell = {cell_within(track.z + track.from * track.uz, dz, tissue->depths), 0,
                 cell_within(sqrt(x * x + y * y), dr, tissue->columns)};
    bool inwards = crosses && track.from < middle;
    for (float at = track.from;;) {
        const float inner = dr * (float)cell.x;
        inwards = inwards && inner * inner > nearest;
        const float ring = !crosses  ? 1e38f
                           : inwards ? middle - half_way(inner, nearest, level)
                                     : middle + half_way(inner + dr, nearest, level);
        const float plane = end_of_cell(track.z, track.uz, dz, cell.z);
        const float next = fmax(at, fmin(fmin(ring, plane), track.to));
        add_track(view, packet, &track, cell, next - at);
        if (next >= track.to) return;
        at = next;
        if (plane < ring)
            cell.z += track.uz > 0 ? 1u : ~0u;
        else
            cell.x += inwards ? ~0u : 1u;
        if (cell.z >= tissue->depths || cell.x >= tissue->columns) return;
    }
}

HEADRACE_FUNCTION void follow_track_xyz(HEADRACE_ANY(const TissueView*) view, const Packet* packet,
                                        Track track) {
    const Tissue* tissue = &view->tissue;
    const float dz = view->general.depth_size, dy = view->general.row_size, dx = view->general.column_size;
    track.x -= tissue->column_edge;
    track.y -= tissue->row_edge;
    clip(&track, track.z, track.uz, 0, dz * (float)tissue->depths);
    clip(&track, track.y, track.uy, 0, dy * (float)tissue->rows);
    clip(&track, track.x, track.ux, 0, dx * (float)tissue->columns);
    if (!(track.from < track.to)) return;
    Cell cell = {cell_within(track.z + track.from * track.uz, dz, tissue->depths),
                 cell_within(track.y + track.from * track.uy, dy, tissue->rows),
                 cell_within(track.x + track.from * track.ux, dx, tissue->columns)};
    for (float at = track.from;;) {
        const float z = end_of_cell(track.z, track.uz, dz, cell.z),
                    y = end_of_cell(track.y, track.uy, dy, cell.y),
                    x = end_of_cell(track.x, track.ux, dx, cell.x), across = fmin(x, y);
        const float next = fmax(at, fmin(fmin(across, z), track.to));
        add_track(view, packet, &track, cell, next - at);
        if (next >= track.to) return;
        at = next;
        if (z < across)
            cell.z += track.uz > 0 ? 1u : ~0u;
        else if (y < x)
            cell.y += track.uy > 0 ? 1u : ~0u;
        else
            cell.x += track.ux > 0 ? 1u : ~0u;
        if (cell.z >= tissue->depths || cell.y >= tissue->rows || cell.x >= tissue->columns) return;
    }
}

/// The way of a packet from where it is, `depth` below the surface.
HEADRACE_FUNCTION void track(HEADRACE_ANY(const TissueView*) view, const Packet* packet, float depth,
                             float way, float weight) {
    if (view->general.fluence_scale == 0) return;
    const Track way_of = {packet->x,
                          packet->y,
                          depth,
                          packet->ux,
                          packet->uy,
                          packet->uz,
                          0,
                          way,
                          weight * view->general.fluence_scale,
                          packet->name ^ (packet->step * 0x9E3779B1u)};
    HEADRACE_IF_CONSTEXPR (FLUORESCENCE_IS_XYZ(view))
        follow_track_xyz(view, packet, way_of);
    else
        follow_track_rz(view, packet, way_of);
}

/// What came down a clear first layer, and went up again, before the packet began.
HEADRACE_FUNCTION void track_beginning(HEADRACE_ANY(const TissueView*) view, const Packet* packet) {
    if (packet->step != 0 || packet->origin != 0 || view->general.passes_before == 0) return;
    track(view, packet, 0, view->layers[0].thickness, (float)packet->weight * view->general.passes_before);
}

HEADRACE_END_NAMESPACE

#endif
