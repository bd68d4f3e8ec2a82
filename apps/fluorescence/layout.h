// apps/fluorescence/layout.h - what the host and every kernel share in memory, in the common part of C++ and
// OpenCL C. Fixed-width fields only; the sizes are asserted at the end, where C++ reads this file.
#ifndef HEADRACE_FLUORESCENCE_LAYOUT_H
#define HEADRACE_FLUORESCENCE_LAYOUT_H

#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(fluorescence)

/// Weights are whole numbers of 2^-30 of a packet, so sums of them are exact and do not depend on their
/// order: 10^10 packets fit into 64 bits.
#define FLUORESCENCE_UNIT_WEIGHT 1073741824.0f
/// Below 1e-4, roulette: one packet in ten goes on, ten times as heavy; or in a hundred, until none is below.
/// So a packet that comes to a boundary never is.
#define FLUORESCENCE_ROULETTE_BELOW 107374u
#define FLUORESCENCE_ROULETTE_TIMES 10u

/// Even. A lane whose packet ends waits for the others of its group until the call's, and one whose packet
/// has stopped until the turn's; so not many.
#define FLUORESCENCE_STEPS_A_CALL 32u
#define FLUORESCENCE_STEPS_A_TURN 8u

/// Packets are scored in so many batches, whose spread is the standard error.
#define FLUORESCENCE_BATCHES 64u
/// What a batch sums up: at [wavelength * 2 + side] what escaped, side 0 above and 1 below; then what was
/// emitted; then what was cut off after Tissue::most_steps; then for each layer what it absorbed of either
/// wavelength.
#define FLUORESCENCE_EMITTED 4u
#define FLUORESCENCE_CUT_OFF 5u
#define FLUORESCENCE_ABSORBED 6u

/// A layer at one wavelength, ready for steps; lengths in cm. The cosine of a scattering angle is
/// forward (1 - t) with t = (2 + bend[0] r + bend[1] r^2) / (root[0] + root[1] r)^2, for a random r below
/// 2^32. In this form nothing cancels where t is small, which it is where g is near 1.
typedef struct __attribute__((aligned(16))) Optics {
    float free_path; ///< ln 2 / (mua + mus), to be multiplied by a logarithm to base 2; far if clear
    float part;      ///< of its weight: what a packet loses at an interaction, or keeps if that is less
    float yield;     ///< part of the weight that is sent on at the second wavelength
    float emission;  ///< chance, times 2^32, that a packet is emitted, for a unit of weight
    float root[2], bend[2];
    float forward;  ///< 1, or -1 for scattering that is rather backwards
    uint32_t keeps; ///< 1: `part` is what a packet keeps
    uint32_t phase; ///< FLUORESCENCE_PHASE_...; only general kernels know others than Henyey and Greenstein's
    uint32_t
        phase_data; ///< modified: chance of Henyey and Greenstein's, times 2^32; tabulated: its first node
} Optics;

#define FLUORESCENCE_PHASE_HENYEY_GREENSTEIN 0u
#define FLUORESCENCE_PHASE_MODIFIED 1u
#define FLUORESCENCE_PHASE_RAYLEIGH 2u
/// And the number of its nodes in the bits above the lowest eight.
#define FLUORESCENCE_PHASE_TABULATED 3u

/// Where a piece of a tabulated phase function begins, whose density is linear in 1 - cosine. Per word of 32
/// bits, the random number that chooses a cosine.
typedef struct __attribute__((aligned(16))) PhaseNode {
    uint32_t below;       ///< words for less 1 - cosine
    float turn;           ///< 1 - cosine
    float density, slope; ///< words for each unit of 1 - cosine, and how that grows
} PhaseNode;

/// The boundary above a layer, or below it.
typedef struct __attribute__((aligned(16))) Side {
    float n_ratio;         ///< of the layer's refractive index to the one beyond
    float beyond;          ///< 1 - n_ratio^2
    float least_refracted; ///< cosine: every ray that comes in can go out again, also a rounded one
    float n;               ///< of the layer
} Side;

/// Depths of packets count from the top of their layer: thin layers far below the surface are as exact as
/// others.
typedef struct __attribute__((aligned(16))) Layer {
    Side sides[2]; ///< above, below
    float top, thickness;
    float trapped[2]; ///< cosine, at either wavelength: no flatter ray ever leaves this clear layer and its
                      ///< clear neighbours; below 0 if the layer is not clear
    Optics optics[2]; ///< at either wavelength
} Layer;

/// Everything but the layers.
typedef struct Tissue {
    uint32_t layers;
    uint32_t first_layer;     ///< in which packets begin: the second, if the first is clear
    uint32_t most_steps;      ///< a packet that has taken so many is cut off, and counts as absorbed
    uint32_t weight;          ///< of a packet that begins: what is not reflected at the surface
    uint32_t emission_weight; ///< of a fluorescent packet, at least
    uint32_t seed_low, seed_high;
    uint32_t is_xyz;                ///< 0: depth and radius
    uint32_t depths, rows, columns; ///< cells: z, y and x, or z, one row, and r
    uint32_t angles;                ///< of what escapes, with depth and radius; else 1
    float depths_per_cm, rows_per_cm, columns_per_cm, angles_per_radian;
    float row_edge, column_edge; ///< where the first row and column begin
    uint32_t totals;             ///< of a batch
    /// The part of the grid whose sums kernels keep near: cells from 0 on in depth, from the first ones
    /// across.
    uint32_t near_wavelengths, near_depths, near_rows, near_columns, first_near_row, first_near_column;
} Tissue;

/// Where packets begin, and into which direction; the layer is Tissue::first_layer.
typedef struct Source {
    Side surface; ///< fibre on the tissue: what its light comes to first
    uint32_t kind;
    float depth;         ///< from the top of the layer
    float radius;        ///< gaussian: where a share of exp(-2) of the greatest is left
    float ux, uz;        ///< oblique: within the tissue
    float square_sine;   ///< fibre: of the flattest ray, where it begins
    uint32_t is_outside; ///< 1: the fibre is on the tissue, not within
    uint32_t unused;
} Source;

#define FLUORESCENCE_SOURCE_PENCIL 0u
#define FLUORESCENCE_SOURCE_GAUSSIAN 1u
#define FLUORESCENCE_SOURCE_DISC 2u
#define FLUORESCENCE_SOURCE_ISOTROPIC 3u
#define FLUORESCENCE_SOURCE_OBLIQUE 4u
#define FLUORESCENCE_SOURCE_FIBRE 5u

/// What general kernels are told besides.
typedef struct General {
    Source source;
    float
        fluence_scale; ///< what a unit of weight adds to the fluence for each cm of its way; 0: not asked for
    /// What packets stand for above their layer when they begin, if the one above is clear: for a unit of
    /// their weight, so much goes down and up there.
    float passes_before;
    float depth_size, row_size, column_size; ///< of a cell, in cm
    /// In a clear first layer, packets have gone down once, and twice its thickness more for each time that
    /// they went up again: by chance, the logarithm of a random number times `passes`.
    float first_thickness, first_n, passes;
    uint32_t detectors, gates;
    float gates_per_cm; ///< of optical path, which is n times the way
    float path_scale;   ///< what a unit of weight adds to a detector's sum for each cm
} General;

/// A round part of a surface, and the angles that it sees.
typedef struct __attribute__((aligned(16))) Detector {
    float x, y, square_radius;
    float square_sine; ///< of the flattest ray, times n squared, where it is: its numerical aperture, squared
    uint32_t side;     ///< 0 above, 1 below
    uint32_t unused[3];
} Detector;
/// Sums of a detector, of a batch and a wavelength: packets, their weight, those whose path was cut to
/// FLUORESCENCE_MOST_PATH, then for each layer weight times path.
#define FLUORESCENCE_DETECTED_PATHS 3u
#define FLUORESCENCE_MOST_PATH 131072.0f /* cm */
#define FLUORESCENCE_MOST_PATHS 16       /* layers, where paths are kept */

/// What detecting kernels keep of the way of a packet, in cm: in its layer since it came there, the optical
/// path before that, and in each layer.
#define FLUORESCENCE_PATHS                                                                                   \
    float stay, flight;                                                                                      \
    float paths[FLUORESCENCE_MOST_PATHS];

/// A packet of photons between two steps: the work unit of the consumer-producer kernel.
typedef struct Packet {
    float x, y, z; ///< z from the top of its layer
    float ux, uy, uz;
    uint32_t weight;
    uint32_t entered;        ///< its weight when what it had lost was last added to its layer's total
    uint32_t name;           ///< lower 32 bits; of which the lowest are its batch, and others are random
    uint32_t layer_and_name; ///< the layer in the lower 8 bits, the name's upper 24 above
    uint32_t origin;         ///< 0: excitation; else the step with which that went on that emitted it
    uint32_t step;           ///< the next
#ifdef FLUORESCENCE_DETECTING
    FLUORESCENCE_PATHS
#endif
} Packet;

#define FLUORESCENCE_MOST_LAYERS 255

#ifndef __OPENCL_C_VERSION__
/// A packet whose way is known.
struct TrackedPacket : Packet {
    FLUORESCENCE_PATHS
};

static_assert(sizeof(TrackedPacket) == 120);
static_assert(sizeof(PhaseNode) == 16 && sizeof(Source) == 48 && sizeof(General) == 96 &&
              sizeof(Detector) == 32);
static_assert(sizeof(Optics) == 48 && sizeof(Side) == 16 && sizeof(Layer) == 144 &&
              offsetof(Layer, optics) == 48);
static_assert(sizeof(Tissue) == 100 && offsetof(Tissue, depths_per_cm) == 48);
static_assert(sizeof(Packet) == 48 && offsetof(Packet, weight) == 24 && offsetof(Packet, step) == 44);
#endif

HEADRACE_END_NAMESPACE

#endif
