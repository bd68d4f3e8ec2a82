// apps/path_tracer/gltf_instances.cpp - see gltf_instances.hpp.
#include "gltf_instances.hpp"
#include "bvh.hpp"
#include "gltf_extensions.hpp"
#include "text_lines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace path_tracer {
namespace {

constexpr std::array<std::string_view, 3> known_attributes = {"TRANSLATION", "ROTATION", "SCALE"};

double size_of(const std::array<Point, 3>& parts) {
    double size = 0;
    for (const Point& part : parts) size = std::max(size, length(part));
    return size;
}

/// The weights of morph targets, if there are any, are all 0.
bool is_at_rest(const GltfPose& pose) {
    if (pose.morph_weights == nullptr) return true;
    return std::all_of(pose.morph_weights->begin(), pose.morph_weights->end(),
                       [](const Json& weight) { return weight.is_number() && weight.get<double>() == 0; });
}

bool is_good_for_instances(const GltfPose& pose) {
    if (pose.skin || !is_at_rest(pose)) return false;
    constexpr double flattest = 1e-3;
    const double unflatness = 1 / (size_of(pose.world.columns) * size_of(pose.world.inverse_rows()));
    return unflatness > flattest && unflatness < std::numeric_limits<double>::infinity();
}

/// Of list[index] in the file; nothing if it is not there. What is not shown may be wrong.
const Json* element(const Json& list, const Json& object, const char* key) {
    const auto index = object.find(key);
    if (index == object.end() || !index->is_number_unsigned()) return nullptr;
    return index->get<std::uint64_t>() < list.size() ? &list[index->get<std::size_t>()] : nullptr;
}

/// About so many, if nothing is wrong.
std::uint64_t triangles_in(const GltfFile& file, std::size_t mesh) {
    constexpr std::uint64_t triangles = 4, most_corners = std::uint64_t{1} << 40;
    std::uint64_t sum = 0;
    for (const Json& primitive : file.list(file.list("meshes")[mesh], "primitives")) {
        const std::uint64_t mode = primitive.value("mode", triangles);
        const auto attributes = primitive.find("attributes");
        if (mode < triangles || attributes == primitive.end()) continue;
        const Json* accessor = element(file.list("accessors"), primitive, "indices");
        if (accessor == nullptr) accessor = element(file.list("accessors"), *attributes, "POSITION");
        const std::uint64_t corners =
            accessor == nullptr ? 0 : accessor->value("count", std::uint64_t{0}); // of vertices or indices
        sum += std::min(corners, most_corners) / (mode == triangles ? 3 : 1);
    }
    return sum;
}

} // namespace

std::vector<Transform> gltf_places(GltfFile& file, const Json& node, const GltfPose& pose,
                                   NotShown& not_shown) {
    const Transform& world = pose.world;
    const auto extensions = node.find("extensions");
    if (extensions == node.end() || !extensions->contains("EXT_mesh_gpu_instancing")) return {world};
    const std::string which = "a node with EXT_mesh_gpu_instancing";
    const Json* const several = extension(node, "EXT_mesh_gpu_instancing");
    if (several == nullptr) file.refuse("has " + which + " that is no object; export it again");
    if (pose.skin) {
        not_shown.add("instances of a mesh with a skin but the first");
        return {world};
    }
    const auto attributes = several->find("attributes");
    if (attributes == several->end() || !attributes->is_object() || attributes->empty())
        file.refuse("has " + which + " that has no attributes; export it again");
    std::optional<std::uint64_t> count;
    const auto attribute = [&](std::string_view name, const char* type) -> std::optional<GltfAccessor> {
        const auto place = file.reference(*attributes, std::string(name).c_str(), "accessors");
        if (!place) return std::nullopt;
        if (!file.list("accessors")[*place].contains(
                "bufferView")) // a few bytes would be any number of places
            file.refuse("has " + which + " with an attribute that has no data (" + std::string(name) +
                        "); export it again");
        GltfAccessor accessor = file.accessor(*place, type, which + " (" + std::string(name) + ')');
        if (count && *count != accessor.count())
            file.refuse("has " + which + " whose attributes have " + std::to_string(*count) + " and " +
                        std::to_string(accessor.count()) + " elements; export it again");
        count = accessor.count();
        return accessor;
    };
    const auto shifts = attribute(known_attributes[0], "VEC3"),
               turns = attribute(known_attributes[1], "VEC4"),
               scales = attribute(known_attributes[2], "VEC3");
    for (const auto& [name, ignored] : attributes->items())
        if (std::find(known_attributes.begin(), known_attributes.end(), name) == known_attributes.end())
            not_shown.add("attribute " + excerpt(name) + " of instances");
    if (!count) { // only others: how many there are is all that they say
        const auto first = file.reference(*attributes, attributes->begin().key().c_str(), "accessors");
        count = first ? file.size(file.list("accessors")[*first], "count", 0) : 0;
        // They all lie in one place, and more than one there are not seen.
        return std::vector<Transform>(std::min<std::uint64_t>(*count, 1), world);
    }
    std::vector<Transform> places;
    places.reserve(*count);
    for (std::uint64_t i = 0; i < *count; ++i) {
        const std::optional<Transform> own =
            transform_of(shifts ? shifts->point(i) : Point{0, 0, 0},
                         turns ? turns->numbers(i) : std::array<double, 4>{0, 0, 0, 1},
                         scales ? scales->point(i) : Point{1, 1, 1});
        if (!own)
            file.refuse("has " + which + ": the rotation of instance " + std::to_string(i) +
                        " is no quaternion; export it again");
        places.push_back(world.after(*own));
    }
    return places;
}

std::size_t repetitions_in(std::span<const ShownMesh> shown) {
    std::map<std::size_t, std::size_t> places;
    for (const ShownMesh& one : shown) ++places[one.mesh];
    std::size_t sum = 0;
    for (const auto& [mesh, count] : places)
        if (count > 1) sum += count;
    return sum;
}

std::vector<bool> kept_as_instances(const GltfFile& file, std::span<const ShownMesh> shown) {
    std::vector<bool> is_kept;
    is_kept.reserve(shown.size());
    std::map<std::size_t, std::uint64_t> good_places, triangles;
    for (const ShownMesh& one : shown) {
        is_kept.push_back(is_good_for_instances(one.pose));
        if (is_kept.back()) ++good_places[one.mesh];
        if (triangles.count(one.mesh) == 0) triangles[one.mesh] = triangles_in(file, one.mesh);
    }
    std::uint64_t others = 0; // triangles of meshes behind their first place, which their accessors bound
    std::map<std::size_t, bool> was_seen;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const std::uint64_t own = triangles[shown[i].mesh];
        if (is_kept[i]) is_kept[i] = (good_places[shown[i].mesh] - 1) * own >= worth_an_instance;
        if (!is_kept[i] && std::exchange(was_seen[shown[i].mesh], true)) others += own;
    }
    if (others > most_positions)
        file.refuse("shows about " + std::to_string(others) +
                    " triangles that cannot be kept as instances, of " + std::to_string(most_positions) +
                    " that a scene may have; show its meshes less often");
    return is_kept;
}

bool lies_within(const Surroundings& mesh, const Transform& place, double farthest) {
    Surroundings there;
    there.add(mesh, place);
    return std::max(largest_part(there.lo), largest_part(there.hi)) <= farthest;
}

} // namespace path_tracer
