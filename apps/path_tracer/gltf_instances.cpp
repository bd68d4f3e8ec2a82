// apps/path_tracer/gltf_instances.cpp - see gltf_instances.hpp.
#include "gltf_instances.hpp"
#include "gltf_extensions.hpp"
#include "text_lines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace path_tracer {
namespace {

constexpr std::array<std::string_view, 3> known_attributes = {"TRANSLATION", "ROTATION", "SCALE"};

double size_of(const std::array<Point, 3>& parts) {
    double size = 0;
    for (const Point& part : parts) size = std::max(size, length(part));
    return size;
}

} // namespace

std::vector<Transform> gltf_places(GltfFile& file, const Json& node, const Transform& world,
                                   NotShown& not_shown) {
    const Json* const several = extension(node, "EXT_mesh_gpu_instancing");
    if (several == nullptr) return {world};
    const std::string which = "a node with EXT_mesh_gpu_instancing";
    const auto attributes = several->find("attributes");
    if (attributes == several->end() || !attributes->is_object() || attributes->empty())
        file.refuse("has " + which + " that has no attributes; export it again");
    std::optional<std::uint64_t> count;
    const auto attribute = [&](std::string_view name, const char* type) -> std::optional<GltfAccessor> {
        const auto place = file.reference(*attributes, std::string(name).c_str(), "accessors");
        if (!place) return std::nullopt;
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

bool is_good_for_instances(const GltfPose& pose) {
    if (pose.skin || pose.morph_weights != nullptr) return false;
    const Transform& place = pose.world;
    constexpr double flattest = 1e-6;
    const double unflatness = 1 / (size_of(place.columns) * size_of(place.inverse_rows()));
    return unflatness > flattest && unflatness < std::numeric_limits<double>::infinity();
}

bool lies_within(const Surroundings& mesh, const Transform& place, double farthest) {
    Surroundings there;
    there.add(mesh, place);
    return std::max(largest_part(there.lo), largest_part(there.hi)) <= farthest;
}

} // namespace path_tracer
