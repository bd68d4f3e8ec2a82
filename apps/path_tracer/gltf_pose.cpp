// apps/path_tracer/gltf_pose.cpp - see gltf_pose.hpp.
#include "gltf_pose.hpp"

#include <algorithm>
#include <cmath>

namespace path_tracer {

Transform transform_of(const GltfFile& file, const Json& node) {
    if (node.contains("matrix")) {
        std::array<double, 16> m{}; // column by column
        file.numbers(node, "matrix", m);
        if (m[3] != 0 || m[7] != 0 || m[11] != 0 || m[15] != 1)
            file.refuse("has a node whose matrix is not affine; export it again");
        return {{Point{m[0], m[1], m[2]}, Point{m[4], m[5], m[6]}, Point{m[8], m[9], m[10]}},
                {m[12], m[13], m[14]}};
    }
    std::array<double, 3> shift{0, 0, 0}, scale{1, 1, 1};
    std::array<double, 4> turn{0, 0, 0, 1}; // a unit quaternion, but for what rounding made of it
    file.numbers(node, "translation", shift);
    file.numbers(node, "rotation", turn);
    file.numbers(node, "scale", scale);
    const std::optional<Transform> own =
        transform_of({shift[0], shift[1], shift[2]}, turn, {scale[0], scale[1], scale[2]});
    if (!own) file.refuse("has a node whose rotation is no quaternion; export it again");
    return *own;
}

GltfPose pose_of(const GltfFile& file, const Json& node, const Json& mesh, const Transform& world) {
    GltfPose pose{world, file.reference(node, "skin", "skins")};
    for (const Json* object : {&mesh, &node}) // the node's weights stand in for the mesh's
        if (const auto found = object->find("weights"); found != object->end()) pose.morph_weights = &*found;
    return pose;
}

// ---- morph targets

std::array<double, 4> MorphedAttribute::numbers(std::uint64_t vertex) const {
    std::array<double, 4> sum = base_->numbers(vertex);
    for (const auto& [weight, target] : targets_) {
        const std::array<double, 4> added = target->numbers(vertex);
        for (std::size_t i = 0; i < base_->size(); ++i) sum[i] += weight * added[i];
    }
    if (is_clamped_)
        for (double& number : sum) number = std::clamp(number, 0.0, 1.0); // what is no number stays so
    return sum;
}

MorphTargets::MorphTargets(const GltfFile& file, const Json& primitive, const GltfPose& pose,
                           std::string which, const FindAttribute& find)
    : which_(std::move(which)), find_(find) {
    const Json& targets = file.list(primitive, "targets");
    if (targets.empty() || pose.morph_weights == nullptr) return;
    const Json& weights = *pose.morph_weights;
    if (!weights.is_array() || weights.size() != targets.size())
        file.refuse(
            which_ + " has " + std::to_string(targets.size()) + " morph targets, and " +
            (weights.is_array() ? std::to_string(weights.size()) + " weights" : "no list of weights") +
            " for them; export it again");
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (!weights[i].is_number() || !(std::abs(weights[i].get<double>()) <= farthest_coordinate))
            file.refuse(which_ + ": the weight of morph target " + std::to_string(i) +
                        " is no finite number; export it again");
        const auto weight = weights[i].get<double>();
        if (weight != 0) used_.push_back({weight, i, &targets[i]});
    }
}

MorphedAttribute MorphTargets::of(const std::string& name, const GltfAccessor* base,
                                  std::initializer_list<std::string_view> types) const {
    MorphedAttribute attribute;
    attribute.base_ = base;
    if (base == nullptr) return attribute;
    for (const Target& target : used_)
        if (const GltfAccessor* const added = find_(
                *target.attributes, name, types, which_ + ", morph target " + std::to_string(target.number)))
            attribute.targets_.emplace_back(target.weight, added);
    attribute.is_clamped_ = name.starts_with("COLOR_") && !attribute.targets_.empty();
    return attribute;
}

// ---- joints

GltfJoints::Skin& GltfJoints::skin_at(std::size_t index) {
    const auto known = skins_.find(index);
    if (known != skins_.end()) return known->second;
    const Json& json = file_.list("skins")[index];
    const std::string which = "skin " + std::to_string(index);
    const std::size_t nodes = file_.list("nodes").size();
    Skin skin;
    for (const Json& joint : file_.list(json, "joints")) {
        if (!joint.is_number_unsigned() || joint.get<std::uint64_t>() >= nodes)
            file_.refuse(which + " has a joint that is none of the " + std::to_string(nodes) +
                         " nodes; export it again");
        skin.nodes.push_back(joint.get<std::size_t>());
    }
    if (skin.nodes.empty()) file_.refuse(which + " has no joints; export it again");
    if (const auto matrices = file_.reference(json, "inverseBindMatrices", "accessors")) {
        skin.inverse_binds = file_.accessor(*matrices, "MAT4", which + " (inverseBindMatrices)");
        if (skin.inverse_binds->count() < skin.nodes.size())
            file_.refuse(which + " has " + std::to_string(skin.inverse_binds->count()) +
                         " inverse bind matrices for " + std::to_string(skin.nodes.size()) +
                         " joints; export it again");
    }
    skin.matrices.resize(skin.nodes.size());
    return skins_.emplace(index, std::move(skin)).first->second;
}

const Transform& GltfJoints::matrix(std::size_t skin, std::size_t joint) {
    Skin& found = skin_at(skin);
    std::optional<Transform>& matrix = found.matrices[joint];
    if (!matrix) matrix = world(found.nodes[joint]).after(inverse_bind(skin, joint));
    return *matrix;
}

Transform GltfJoints::inverse_bind(std::size_t skin, std::size_t joint) const {
    const std::optional<GltfAccessor>& matrices = skins_.at(skin).inverse_binds;
    if (!matrices) return {};
    const std::array<double, 16> m = matrices->matrix(joint); // column by column
    // Exporters invert matrices as floats, which leaves their rounding in the row that ought to be 0, 0,
    // 0, 1.
    constexpr double rounding = 1e-3;
    if (!(std::abs(m[3]) < rounding && std::abs(m[7]) < rounding && std::abs(m[11]) < rounding &&
          std::abs(m[15] - 1) < rounding))
        file_.refuse("skin " + std::to_string(skin) + " has an inverse bind matrix of joint " +
                     std::to_string(joint) + " that is not affine; export it again");
    return {{Point{m[0], m[1], m[2]}, Point{m[4], m[5], m[6]}, Point{m[8], m[9], m[10]}},
            {m[12], m[13], m[14]}};
}

/// What is wrong with nodes that no joint stands below makes no difference.
void GltfJoints::find_parents() {
    const Json& nodes = file_.list("nodes");
    parents_.resize(nodes.size());
    worlds_.resize(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto children = nodes[i].find("children");
        if (children == nodes[i].end() || !children->is_array()) continue;
        for (const Json& child : *children) {
            if (!child.is_number_unsigned() || child.get<std::uint64_t>() >= nodes.size()) continue;
            Parent& parent = parents_[child.get<std::size_t>()];
            parent.is_one_of_several = parent.node.has_value();
            parent.node = i;
        }
    }
}

/// Not by recursion: a file may nest nodes deeper than a stack is.
const Transform& GltfJoints::world(std::size_t node) {
    if (parents_.empty()) find_parents();
    std::vector<std::size_t> way; // from the node up to what is known, or to a root
    for (std::optional<std::size_t> at = node; at && !worlds_[*at]; at = parents_[*at].node) {
        if (parents_[*at].is_one_of_several || way.size() == parents_.size())
            file_.refuse("has node " + std::to_string(*at) +
                         " twice in its tree, or as its own ancestor; export it again");
        way.push_back(*at);
    }
    for (auto at = way.rbegin(); at != way.rend(); ++at) {
        const Transform own = transform_of(file_, file_.list("nodes")[*at]);
        const std::optional<std::size_t> parent = parents_[*at].node;
        worlds_[*at] = parent ? worlds_[*parent]->after(own) : own;
    }
    return *worlds_[node];
}

// ---- vertices

VertexTransforms::VertexTransforms(const GltfFile& file, GltfJoints& joints, const GltfPose& pose,
                                   const Json& attributes, std::string which, const FindAttribute& find,
                                   NotShown& not_shown)
    : file_(file), joints_(joints), pose_(pose), which_(std::move(which)), not_shown_(not_shown) {
    if (!pose_.skin) return;
    find_sets(attributes, find, not_shown);
    if (sets_.empty()) return;
    static_cast<void>(joints_.count(*pose_.skin)); // refuses a damaged skin
    recent_.resize(64);
}

void VertexTransforms::find_sets(const Json& attributes, const FindAttribute& find, NotShown& not_shown) {
    std::size_t named = 0;
    for (const auto& [name, ignored] : attributes.items())
        if (name.starts_with("JOINTS_") || name.starts_with("WEIGHTS_")) ++named;
    // The format asks for joints here, and says nothing of what is to be shown without. Other viewers show
    // such a primitive where its node stands.
    if (named == 0) return not_shown.add("the skin of " + which_ + ", which has no joints");
    while (2 * sets_.size() < named) {
        const std::string number = std::to_string(sets_.size());
        const GltfAccessor* const joints = find(attributes, "JOINTS_" + number, {"VEC4"}, which_);
        const GltfAccessor* const weights = find(attributes, "WEIGHTS_" + number, {"VEC4"}, which_);
        if (joints == nullptr || weights == nullptr)
            file_.refuse(which_ + " has no " + (joints == nullptr ? "JOINTS_" : "WEIGHTS_") + number +
                         " beside its other joints and weights; export it again");
        if (!joints->has_whole_numbers())
            file_.refuse(which_ + " has a JOINTS_" + number + " without unsigned integers; export it again");
        if (!weights->has_fractions())
            file_.refuse(which_ + " has a WEIGHTS_" + number +
                         " without floats or normalised unsigned integers; export it again");
        sets_.push_back({joints, weights});
    }
}

const Transform& VertexTransforms::blended(std::uint64_t vertex) {
    Blend& recent = recent_[vertex % recent_.size()];
    if (recent.vertex != vertex) {
        recent.vertex.reset(); // until there is one: what throws leaves none behind
        recent.transform = blend(vertex);
        recent.vertex = vertex;
    }
    return recent.transform;
}

Transform VertexTransforms::blend(std::uint64_t vertex) {
    // What quantised weights may be off without having been made to sum up: half a step of each of eight.
    constexpr double rounding = 0.02;
    const std::size_t skin = *pose_.skin, count = joints_.count(skin);
    influences_.clear();
    double sum = 0, least = 0;
    for (const auto& [joints, weights] : sets_) {
        const std::array<double, 4> joint = joints->numbers(vertex), weight = weights->numbers(vertex);
        for (std::size_t i = 0; i < joint.size(); ++i) {
            if (weight[i] == 0) continue; // its joint may be any
            if (joint[i] >= static_cast<double>(count))
                file_.refuse(which_ + ", vertex " + std::to_string(vertex) + " names joint " +
                             std::to_string(static_cast<std::uint64_t>(joint[i])) + " of " +
                             std::to_string(count) + " of its skin (they count from 0); export it again");
            influences_.push_back({weight[i], &joints_.matrix(skin, static_cast<std::size_t>(joint[i]))});
            sum += weight[i];
            least = std::min(least, weight[i]);
        }
    }
    if (least < -rounding) not_shown_.add("weights of joints below 0");
    if (sum == 0) {
        not_shown_.add("weights of joints that add up to 0");
        return {};
    }
    if (std::abs(sum - 1) > rounding) not_shown_.add("weights of joints that do not add up to 1");
    // From the joint with the largest weight towards the others: what all joints move alike moves so to the
    // bit, whatever rounding makes of the sum of weights.
    const auto largest =
        std::max_element(influences_.begin(), influences_.end(), [](const Influence& a, const Influence& b) {
            return std::abs(a.weight) < std::abs(b.weight);
        });
    const Transform first = *largest->matrix;
    Transform blend = first;
    for (const auto& [weight, matrix] : influences_) {
        const double share = weight / sum;
        for (std::size_t i = 0; i < blend.columns.size(); ++i)
            blend.columns[i] = blend.columns[i] + (matrix->columns[i] - first.columns[i]) * share;
        blend.shift = blend.shift + (matrix->shift - first.shift) * share;
    }
    return blend;
}

/// Most of the corners decide, as they move alike but where joints fold a surface. One corner there should
/// not turn the triangle, and it should not matter which corner the file names first.
bool VertexTransforms::mirrors(const std::array<std::uint64_t, 3>& corners) {
    if (sets_.empty()) return pose_.world.mirrors();
    return std::count_if(corners.begin(), corners.end(),
                         [this](std::uint64_t vertex) { return of(vertex).mirrors(); }) >= 2;
}

} // namespace path_tracer
