// apps/barnes_hut/layout.h - what the host and every kernel share in memory, in the common part of C++ and
// OpenCL C. Fixed-width fields only; the sizes are asserted at the end, where C++ reads this file.
//
// Kernels see a space of their own: lengths and masses are scaled by powers of two, so that the cube around
// all bodies has a side of at most 1, and that the pull of the least mass is a float of full precision. See
// scale_of in tree.hpp.
#ifndef HEADRACE_BARNES_HUT_LAYOUT_H
#define HEADRACE_BARNES_HUT_LAYOUT_H

#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(barnes_hut)

/// Bodies that follow each other on the curve and walk the tree together.
#define BARNES_HUT_GROUP 64u

/// A family is all children of one node, which lie one after the other: the first one's number in the lower
/// 29 bits, their number less one above.
#define BARNES_HUT_NODE_BITS 29u
#define BARNES_HUT_NODE_MASK 0x1fffffffu
#define BARNES_HUT_ROOT 0u /* the family that is the root alone */

/// Levels of the tree below the root, one for each three bits of a key.
#define BARNES_HUT_LEVELS 21u

/// Families that a part of a walk begins with, and parts into which the rest of a walk is split, at most.
#define BARNES_HUT_FAMILIES 14u
#define BARNES_HUT_PARTS 16u
/// In OpenCL C, where lanes hold what is spawned until the unit is done.
#define BARNES_HUT_STAGED_PARTS 4u

/// An accepted leaf of so few bodies is cheaper, and exact, body by body.
#define BARNES_HUT_FEW 2u

/// Counts are spread, so that lanes do not queue for one address.
#define BARNES_HUT_COUNTS 256u
/// Where it is counted that pairs of bodies are too near to each other for their distance to be known, and
/// that they are at one place.
#define BARNES_HUT_TOO_NEAR (2u * BARNES_HUT_COUNTS)
#define BARNES_HUT_TOGETHER (2u * BARNES_HUT_COUNTS + 1u)

/// The least distance that is known to 1e-7 of it: places have an error of 2^-75.
#define BARNES_HUT_NEAREST 4.44e-16f

/// Whether to open a node: its centre of mass, and the square of the distance within which all open it.
typedef struct __attribute__((aligned(16))) NodeTest {
    float x, y, z;
    float radius2;
} NodeTest;

/// What is in a node.
typedef struct __attribute__((aligned(16))) NodeLink {
    uint32_t first;  ///< of a leaf its first body, else the family of its children
    uint32_t bodies; ///< of a leaf; 0: it has children
    float weight;    ///< times a group's reach: the square of the distance within which it opens the node too
    uint32_t unused;
} NodeLink;

/// What a node that is not opened pulls with. The centre of mass is that of NodeTest and this correction.
typedef struct __attribute__((aligned(16))) Moments {
    float x, y, z, mass;
    float xx, xy, xz, yy; ///< three times the second moments about the centre of mass
    float yz, zz, trace;  ///< half of their sum xx + yy + zz
    float unused;
} Moments;

/// A body: its place in three floats each, every one what those before it lack.
typedef struct __attribute__((aligned(16))) Body {
    float x, y, z, mass;
    float low_x, low_y, low_z;
    uint32_t tag; ///< differs between bodies at different places, even if three floats do not
    float tail_x, tail_y, tail_z, unused;
} Body;

/// The box around a group of bodies: centre, and half its sides.
typedef struct __attribute__((aligned(16))) GroupBox {
    float x, y, z, half_x;
    float half_y, half_z;
    float near2; ///< the square of the distance within which places relative to the centre say too little
    float reach; ///< the weaker what pulls at it, the larger; 0: not known, or of no account
} GroupBox;

/// What pulls at a body.
typedef struct __attribute__((aligned(16))) Force {
    float x, y, z, potential;
} Force;

/// What kernels are told beside the arrays.
typedef struct Space {
    float softening2;
    uint32_t bodies, groups;
    uint32_t quadrupole;     ///< 0: monopoles alone
    uint32_t with_potential; ///< 0: nobody asks for it
    uint32_t load;           ///< Fibonacci numbers to be computed at every visited node
    uint32_t budget;         ///< interactions of a group after which a part of a walk may be handed on
} Space;

/// The rest of a group's walk, or a part of it: the work unit of the kernel "producer".
typedef struct WalkPart {
    uint32_t group;
    uint32_t count;
    uint32_t families[BARNES_HUT_FAMILIES];
} WalkPart;

/// A body that visits the children of one node: the work unit of the kernel "producer-node".
typedef struct NodeVisit {
    uint32_t body;
    uint32_t family;
} NodeVisit;

#ifndef __OPENCL_C_VERSION__
static_assert(sizeof(NodeTest) == 16 && sizeof(NodeLink) == 16 && sizeof(Moments) == 48);
static_assert(sizeof(Body) == 48 && sizeof(GroupBox) == 32 && sizeof(Force) == 16);
static_assert(sizeof(Space) == 28 && sizeof(WalkPart) == 64 && sizeof(NodeVisit) == 8);
#endif

HEADRACE_END_NAMESPACE

#endif
