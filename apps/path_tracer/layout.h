// apps/path_tracer/layout.h - what the host and every kernel share in memory, in the common part of C++ and
// OpenCL C. Fixed-width fields only; the sizes are asserted at the end, where C++ reads this file.
#ifndef HEADRACE_PATH_TRACER_LAYOUT_H
#define HEADRACE_PATH_TRACER_LAYOUT_H

#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(path_tracer)

typedef struct Float3 {
    float x, y, z;
} Float3;

/// Linear radiance or reflectance in Rec. 709 primaries.
typedef struct Rgb {
#ifndef __OPENCL_C_VERSION__
    using Scalar = float; // lets a headrace::Domain<Rgb> be accumulated
#endif
    float r, g, b;
} Rgb;

/// Both children's boxes along one axis: where a ray enters and leaves then needs half the minima and maxima
/// that corners would, and those are what GPUs are slow at.
typedef struct __attribute__((aligned(16))) Slab {
    float centre0, centre1, half0, half1;
} Slab;

/// Both children of an inner node, so that one fetch of 64 bytes decides where to go on.
/// A child is `first << 4 | count`: `count` triangles from `first` on, or, with count 0, the inner node
/// `first`; or, with PATH_TRACER_INSTANCE, the instance `first`.
typedef struct BvhNode {
    Slab x, y, z;
    uint32_t child0, child1;
    uint32_t unused0, unused1;
} BvhNode;

/// Three corners, not a corner and two edges: neighbours must see bit-equal shared corners, or rays slip
/// between.
typedef struct __attribute__((aligned(16))) Triangle {
    Float3 a;
    uint32_t material;
    Float3 b;
    /// In the order of the scene file; triangles with the same corners have the first one's. With
    /// PATH_TRACER_HAS_HOLES where the surface is not opaque.
    uint32_t id;
    Float3 c;
    /// 1 / (probability per area that a shadow ray goes to a point of this triangle). The largest float: none
    /// goes.
    float inverse_density;
} Triangle;

/// Ids are below it: a scene with more triangles would fill 100 GiB before it is prepared.
#define PATH_TRACER_HAS_HOLES 0x80000000u

/// What is needed of a triangle once it is hit, or where floats cannot tell whether it is.
typedef struct __attribute__((aligned(16))) TriangleDetail {
    Float3 normal;              ///< length 1, on the side from which the corners run counter-clockwise
    Float3 low_a, low_b, low_c; ///< what rounding to floats took away from the corners
} TriangleDetail;

/// A row of a map: x' = x x + y y + z z + shift.
typedef struct __attribute__((aligned(16))) MapRow {
    float x, y, z, shift;
} MapRow;

/// An affine map of points.
typedef struct AffineMap {
    MapRow x, y, z;
} AffineMap;

/// A mesh, in one of the places where it is shown. Its triangles are there once, in coordinates in which
/// they lie within a cube from -1 to 1, as those of the scene do. Rays meet them where they are in the scene,
/// so that all that is said of errors holds for them, too. In the coordinates of the mesh, rays only find
/// their way through its boxes.
typedef struct __attribute__((aligned(16))) Instance {
    AffineMap placed;   ///< from the coordinates of the mesh to those of the scene
    AffineMap low;      ///< what rounding to floats took away from it
    AffineMap to_mesh;  ///< back, about
    Float3 margin;      ///< by which boxes of the mesh are wider on each side
    float corner_error; ///< what floats move a placed corner, at most, as PATH_TRACER_SIGHT_ERROR
    uint32_t root;      ///< of the mesh, among the nodes
    uint32_t unused[3];
} Instance;

/// What a file says of a triangle's corners.
///
/// Normals turn what the surface sends on; on which side of the triangle they point does not count. Each is a
/// point of an octahedron, unfolded to a square: x in the low 16 bits, y in the high ones, from 0 to
/// PATH_TRACER_NORMAL_STEPS.
///
/// Source  Meyer et al., "On floating-point normal vectors", EGSR 2010
typedef struct __attribute__((aligned(16))) CornerShading {
    uint32_t normal_a, normal_b, normal_c; ///< `normal_a` is PATH_TRACER_NONE if the triangle is flat
    uint32_t colours;                      ///< place of its CornerColours, or PATH_TRACER_NONE
} CornerShading;

/// Factors of what the surface sends on, and of its opacity, at the corners of a triangle.
typedef struct __attribute__((aligned(16))) CornerColours {
    Rgb a;
    float opacity_a;
    Rgb b;
    float opacity_b;
    Rgb c;
    float opacity_c;
} CornerColours;

/// A point of a picture: u to the right, v down, from 0 to 1 each; what is beyond, a texture's Wrap says.
typedef struct TexturePoint {
    float u, v;
} TexturePoint;

/// Where the corners of a triangle lie in its textures.
typedef struct __attribute__((aligned(16))) CornerPlaces {
    TexturePoint a, b, c;
    uint32_t other; ///< place of another CornerPlaces of the triangle, or PATH_TRACER_NONE
    uint32_t unused;
} CornerPlaces;

#define PATH_TRACER_NORMAL_STEPS 65534 /* even, so that axes are exact */
#define PATH_TRACER_NONE 0xffffffffu

/// What is beyond the edges of a picture.
typedef enum Wrap { WRAP_REPEATS = 0, WRAP_MIRRORS = 1, WRAP_KEEPS_EDGE = 2 } Wrap;

/// Red, green, blue and opacity as 16-bit floats, none of them negative: the first of each pair in the low
/// bits. Colours are linear.
typedef struct __attribute__((aligned(8))) Texel {
    uint32_t red_green, blue_opacity;
} Texel;

/// A picture, or one of the smaller ones made of it, each half as wide and high as the one before.
typedef struct __attribute__((aligned(16))) TextureLevel {
    uint32_t first; ///< place of its upper left texel; the others follow row by row
    uint32_t width, height;
    uint32_t unused;
} TextureLevel;

/// How a material uses a picture.
typedef struct __attribute__((aligned(16))) Texture {
    float u_from_u, u_from_v, u_shift; ///< u of the picture = u_from_u u + u_from_v v + u_shift
    float v_from_u, v_from_v, v_shift;
    float texels;            ///< of the picture in a unit square of the coordinates at corners
    uint32_t level, levels;  ///< place of its largest TextureLevel, and how many there are
    uint32_t wrap_u, wrap_v; ///< see Wrap
    uint32_t set;            ///< which CornerPlaces of a triangle
    uint32_t is_pixelated;   ///< 1: magnified, its texels are squares; 0: they run into one another
    float square_levels;     ///< levels of a quarter of the texels before; those behind are one texel wide
    uint32_t unused[2];
} Texture;

/// The textures of a material: their places, or PATH_TRACER_NONE. Each is a factor of what it is named after.
typedef struct __attribute__((aligned(16))) SurfaceTextures {
    uint32_t colour;          ///< of Finish::base
    uint32_t metal;           ///< its blue is one of `metallic`, its green one of `roughness`
    uint32_t transmission;    ///< its red
    uint32_t emission;        ///< of Material::emission
    uint32_t normal;          ///< of the surface, in the frame of the texture's axes
    uint32_t opacity;         ///< its opacity is a factor of `opaque`
    uint32_t highlight;       ///< its opacity is one of `highlight_edge`
    uint32_t highlight_tint;  ///< of `highlight`
    uint32_t coat;            ///< its red
    uint32_t coat_roughness;  ///< its green
    uint32_t coat_normal;     ///< as `normal`
    uint32_t sheen;           ///< of the colour
    uint32_t sheen_roughness; ///< its opacity
    float normal_scale;       ///< of how far `normal` leans
    float coat_normal_scale;
    float opaque;
    float cutoff; ///< least opacity that is opaque, where all else is a hole; 0: light passes in part
    uint32_t unused[3];
} SurfaceTextures;

/// A mixture of smooth glass, mirror and Lambert; a path takes one of them, by chance. Scenes with more than
/// that have a Finish for each material, too; of this they use emission and textures.
///
/// `glass`, `mirror` and `diffuse` are already divided by the chance of their being taken: they multiply the
/// path's throughput as they are. `albedo` is the undivided Lambert part, which shadow rays need.
typedef struct __attribute__((aligned(16))) Material {
    Rgb diffuse;
    float glass_chance;
    Rgb mirror;
    float mirror_chance;
    Rgb glass;
    float ior; ///< index of refraction on the side that the normal turns its back to
    Rgb emission;
    uint32_t textures; ///< place of its SurfaceTextures, or PATH_TRACER_NONE
    Rgb albedo;
    float mirror_edge; ///< what `mirror` becomes at the edge, where it is more, by Schlick's formula
} Material;

/// All that a material has, with values that textures may change. SurfaceDescription says what they mean.
typedef struct __attribute__((aligned(16))) Finish {
    Rgb base;
    float metallic;
    Rgb mirror;
    float transmitted;
    Rgb highlight;
    float highlight_edge;
    Rgb sheen;
    float sheen_roughness;
    Rgb absorption; ///< per unit of length
    float roughness;
    float coat, coat_roughness;
    float ior;
    uint32_t glass_table; ///< see AlbedoEntry; PATH_TRACER_NONE: the glass is thin
} Finish;

/// What facets or fibres reflect of light from all around, by the cosine at which they are seen (which is the
/// square of column / 31), and by roughness (row / 31). Tables lie one behind the other:
///
///     0       GGX
///     1       fibres, in `head_on`
///     2, 3    glass, as seen from outside, and from inside, in `boost`; 4, 5 are for another index, and so
///     on
typedef struct __attribute__((aligned(16))) AlbedoEntry {
    float head_on, edge; ///< albedo of a reflectance = head_on x that along normals + edge x that across
    float boost; ///< what facets reflect to one another, of what goes on at once; glass: a factor of all
    uint32_t unused;
} AlbedoEntry;

#define PATH_TRACER_ALBEDO_STEPS 32
#define PATH_TRACER_FIBRE_TABLE 1u
#define PATH_TRACER_FIRST_GLASS_TABLE 2u

/// How much a kernel knows of surfaces. Each is compiled by itself: scenes would pay for what they lack, in
/// registers.
typedef enum Shading {
    SHADING_FLAT = 0,    ///< Lambert, smooth mirrors and glass, flat triangles
    SHADING_CORNERS = 1, ///< and normals and colours at corners
    SHADING_FULL = 2,    ///< and textures, and all of Finish
    SHADING_ALL = 3      ///< and instances, and surfaces that are not opaque
} Shading;

/// One column of an alias table over all lights but the environment, weighted by power.
typedef struct Light {
    uint32_t emitter; ///< index into the triangles; or PATH_TRACER_PUNCTUAL | index into the PunctualLights
    float keep;       ///< chance to stay in this column
    uint32_t alias;   ///< the column to go to otherwise
} Light;

#define PATH_TRACER_PUNCTUAL 0x80000000u

/// A light without extent, which is found by shadow rays alone. What it sends along a direction at an angle
/// to `axis` is `strength` times the square of cone_offset - cone_scale x (1 - cosine), held between 0 and 1.
typedef struct __attribute__((aligned(16))) PunctualLight {
    Float3 place;        ///< or the direction to it, if it is far away
    uint32_t is_far;     ///< 1: it shines with parallel rays
    Rgb strength;        ///< radiant intensity; or, far away, the irradiance of a surface that faces it
    float inverse_range; ///< 1 / the distance from which on nothing is lit; 0: there is none
    Float3 axis;
    float cone_scale, cone_offset;
    float inverse_chance; ///< of a shadow ray, among all that go to lights
    uint32_t unused[2];
} PunctualLight;

/// A part of the picture of an environment: a column of an alias table over all of them.
typedef struct __attribute__((aligned(16))) EnvironmentCell {
    float keep;
    uint32_t alias;
    float density; ///< per solid angle, times the sine of the angle to +y, with which shadow rays go there
    uint32_t unused;
} EnvironmentCell;

/// Coordinates in here are those of the scene, moved to its middle and scaled by a power of two, so that all
/// corners lie within a cube from -1 to 1: see Placement.
///
/// The ray through (x, y), in pixels from the top left corner of the picture, begins at eye + u aside + v
/// below. What u and v are, and where it goes, its Projection says.
typedef struct Camera {
    Float3 eye, corner, right, down;
    Float3 aside, below;
    uint32_t projection; ///< see Projection
} Camera;

typedef enum Projection {
    /// u and v are 0. Along corner + x right + y down.
    PROJECTION_PINHOLE = 0,
    /// (u, v) is a point of the unit disk, which is the lens. Rays go along corner + x right + y down, which
    /// leads to a point of the plane that is sharp, less u aside + v below.
    PROJECTION_LENS = 1,
    /// u is x, and v is y; along corner.
    PROJECTION_ORTHOGRAPHIC = 2
} Projection;

/// Whether surfaces are opaque.
typedef enum Holes {
    HOLES_NONE = 0,   ///< all are
    HOLES_CLEAR = 1,  ///< some have holes: light passes there, and nowhere else
    HOLES_PARTIAL = 2 ///< of some, a share of the light passes
} Holes;

/// All that is the same for every path of a picture.
typedef struct Frame {
    Camera camera;
    uint32_t width, height;
    uint32_t max_depth;      ///< hits of a path
    uint32_t roulette_from;  ///< hit from which on Russian roulette is played; 0: never
    uint32_t shadow_rays;    ///< for each diffuse hit; 0: emission is found by hitting it
    uint32_t lights;         ///< columns of the alias table
    uint32_t coherent;       ///< 1: groups of 32 shuffled pixels share their random numbers
    uint32_t shading;        ///< see Shading
    uint32_t holes;          ///< see Holes
    uint32_t has_absorption; ///< 1: some glass takes a share of the light
    float first_width;       ///< of a sample, at the camera
    float spread;            ///< of a sample: how much wider it is after one unit of length
    uint32_t seed_low, seed_high;
    uint32_t first_sample;        ///< number of each pixel's first sample
    uint32_t chosen;              ///< so many pixels of a list have samples; 0: all pixels
    Rgb sky;                      ///< what comes from where nothing is, if there is no environment
    uint32_t environment_texture; ///< see environment.h; its levels of half the size are not used
    uint32_t environment_columns, environment_rows; ///< of its cells; 0: there is none
    float environment_turn;  ///< by so many turns it is turned, counter-clockwise as seen from above
    float environment_scale; ///< factor of its texture
    float lamp_chance;       ///< that a shadow ray goes to any other light, and not to the environment
} Frame;

/// What a picture shows first, for the layers of an OpenEXR file: sums over samples.
typedef struct FirstHit {
#ifndef __OPENCL_C_VERSION__
    using Scalar = float; // lets a headrace::Domain<FirstHit> be accumulated
#endif
    Rgb albedo;     ///< what the surface sends on of white light, about; of the sky nothing
    Float3 normal;  ///< shading normal, on the side of the camera
    float distance; ///< from the camera
    float hits;     ///< samples that meet a surface
} FirstHit;

/// The work unit of the consumer-producer kernel: a ray on its way to its next hit.
///
/// It begins at the point (1 - u - v) a + u b + v c of the triangle `left`, exactly: as a point in floats it
/// would lie beside the triangle. Without a triangle it begins at the camera, which says what u and v are.
typedef struct PathVertex {
    uint32_t left; ///< index into the triangles, or PATH_TRACER_NO_TRIANGLE
    float u, v;
    Float3 direction;
    Rgb throughput;
    /// Per solid angle, with which a surface that also cast shadow rays chose the direction. Both may
    /// find the same emitter and share it then. 0: there were none, all is to be found by this ray.
    float density;
    uint32_t pixel; ///< row * width + column
    uint32_t key;   ///< of the random numbers: the pixel, or its group in a coherent picture
    uint32_t sample;
    /// Hits so far in the low 20 bits. Above them, where there are textures, the length of the path so far:
    /// the first 12 bits of a float behind its sign, which are enough to say how wide the sample is.
    uint32_t hits_and_length;
    uint32_t left_instance; ///< the Instance in which it is triangle `left`, or PATH_TRACER_NONE
} PathVertex;

#define PATH_TRACER_HITS_BITS 20 /* --max-depth is at most 2^20, and a path with so many hits has ended */
#define PATH_TRACER_LENGTH_BITS 12

#define PATH_TRACER_NO_TRIANGLE 0xffffffffu
/// What rounding moves a corner, at most, as a ray sees it across or along: 40 x 2^-24. A ray begins in the
/// cube from -1 to 1, or three units before it, so that a corner is at most 5.9 away: rounding of corners and
/// origin is 2 x 2^-24, three products and sums are 4 x 5.9 x 2^-24, and products of two such numbers, whose
/// rounding counts here too, 2 x 5.9 x 2^-24.
#define PATH_TRACER_SIGHT_ERROR 0x1.4p-19f
/// The same for corners at most `far` away, which is most often much less. In 2^-24: rounding of a corner is
/// 1/2 and of the origin 3 in each coordinate, 6.1 in all; differences are 1 x far, products and sums 3 x
/// far, and products of two such numbers 2 x far.
#define PATH_TRACER_SIGHT_ERROR_AT(far) (7 * 0x1p-24f * (1 + (far)))
#define PATH_TRACER_FAR_AWAY 1e30f /* distances are below */
#define PATH_TRACER_MISSES 2e30f
#define PATH_TRACER_STACK 64        /* nodes on the longest way down the BVH, at most: bvh.cpp sees to it */
#define PATH_TRACER_MOST_IN_LEAF 8u /* triangles */
#define PATH_TRACER_INSTANCE 15u    /* see BvhNode */
#define PATH_TRACER_WALK_ENDS 0xffffffffu /* a child that is none, at the bottom of a walk's stack */
#define PATH_TRACER_MESH_ENDS 0xfffffffeu /* the same, where a walk goes back from a mesh to the scene */

#ifndef __OPENCL_C_VERSION__
static_assert(sizeof(Float3) == 12 && sizeof(Rgb) == 12);
static_assert(sizeof(BvhNode) == 64 && offsetof(BvhNode, y) == 16 && offsetof(BvhNode, child0) == 48);
static_assert(sizeof(Triangle) == 48 && offsetof(Triangle, material) == 12 && offsetof(Triangle, c) == 32);
static_assert(sizeof(Material) == 80 && offsetof(Material, emission) == 48 &&
              offsetof(Material, albedo) == 64);
static_assert(sizeof(Light) == 12 && sizeof(PunctualLight) == 64);
static_assert(sizeof(Camera) == 76);
static_assert(sizeof(Instance) == 176 && offsetof(Instance, margin) == 144);
static_assert(sizeof(TriangleDetail) == 48 && offsetof(TriangleDetail, low_a) == 12);
static_assert(sizeof(Frame) == 176 && offsetof(Frame, sky) == 140);
static_assert(sizeof(CornerShading) == 16 && sizeof(CornerColours) == 48 && sizeof(CornerPlaces) == 32);
static_assert(sizeof(Texel) == 8 && sizeof(TextureLevel) == 16 && sizeof(Texture) == 64);
static_assert(sizeof(SurfaceTextures) == 80 && sizeof(Finish) == 96 && sizeof(AlbedoEntry) == 16);
static_assert(offsetof(Finish, absorption) == 64 && offsetof(Finish, glass_table) == 92);
static_assert(sizeof(FirstHit) == 32);
static_assert(sizeof(PathVertex) == 60 && offsetof(PathVertex, pixel) == 40);
#endif

HEADRACE_END_NAMESPACE

#endif
