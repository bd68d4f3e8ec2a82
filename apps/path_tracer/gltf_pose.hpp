// apps/path_tracer/gltf_pose.hpp - where nodes, morph targets and skins of a glTF file put vertices, in the
// pose that it has without its animations.
#pragma once
#include "gltf_file.hpp"
#include "scene_readers.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace path_tracer {

/// From a node to its parent. Errors  invalid_argument for numbers that are no affine map
[[nodiscard]] Transform transform_of(const GltfFile& file, const Json& node);

/// How a node shows its mesh.
struct GltfPose {
    Transform world;                     ///< of the node, for what no joint moves
    std::optional<std::size_t> skin{};   ///< its place in the file
    const Json* morph_weights = nullptr; ///< as the file has them; null: all are 0
};
/// Reads neither the skin nor the weights: primitives that use none may stand beside a damaged one.
[[nodiscard]] GltfPose pose_of(const GltfFile& file, const Json& node, const Json& mesh,
                               const Transform& world);

/// Finds an attribute of all vertices among `attributes`, of one of these types; null if it is not there.
/// `of`: for messages
using FindAttribute =
    std::function<const GltfAccessor*(const Json& attributes, const std::string& name,
                                      std::initializer_list<std::string_view> types, const std::string& of)>;

/// What a vertex has, with that of morph targets added. Borrows the accessors.
class MorphedAttribute {
public:
    [[nodiscard]] Point point(std::uint64_t vertex) const {
        const std::array<double, 4> xyz = numbers(vertex);
        return {xyz[0], xyz[1], xyz[2]};
    }
    [[nodiscard]] std::array<double, 4> numbers(std::uint64_t vertex) const;
    /// Numbers of a vertex.
    [[nodiscard]] std::size_t size() const { return base_->size(); }
    [[nodiscard]] explicit operator bool() const { return base_ != nullptr; }

private:
    friend class MorphTargets;

    const GltfAccessor* base_ = nullptr;
    std::vector<std::pair<double, const GltfAccessor*>> targets_; ///< each with its weight
    bool is_clamped_ = false;                                     ///< to 0 and 1, as colours that morph are
};

/// The morph targets of a primitive that its pose uses. Borrows all that it is given.
class MorphTargets {
public:
    /// Errors  invalid_argument for weights that are not as many as the targets, or no numbers
    MorphTargets(const GltfFile& file, const Json& primitive, const GltfPose& pose, std::string which,
                 const FindAttribute& find);

    /// `base`: of the primitive, or null: then there is none with targets either.
    [[nodiscard]] MorphedAttribute of(const std::string& name, const GltfAccessor* base,
                                      std::initializer_list<std::string_view> types) const;

private:
    struct Target {
        double weight;
        std::size_t number;
        const Json* attributes;
    };

    std::string which_; ///< for messages
    const FindAttribute& find_;
    std::vector<Target> used_;
};

/// World transforms of nodes and joints, each of which is looked at when it is used first. A joint may stand
/// outside of the scene that is shown. Borrows the file.
class GltfJoints {
public:
    explicit GltfJoints(GltfFile& file) : file_(file) {}

    /// How many a skin has. Errors  invalid_argument for a skin that is damaged
    [[nodiscard]] std::size_t count(std::size_t skin) { return skin_at(skin).nodes.size(); }
    /// From where vertices are bound into the world. Valid as long as this.
    [[nodiscard]] const Transform& matrix(std::size_t skin, std::size_t joint);

private:
    struct Skin {
        std::vector<std::size_t> nodes;
        std::optional<GltfAccessor> inverse_binds;
        std::vector<std::optional<Transform>> matrices;
    };
    struct Parent {
        std::optional<std::size_t> node;
        bool is_one_of_several = false;
    };

    Skin& skin_at(std::size_t index);
    [[nodiscard]] Transform inverse_bind(std::size_t skin, std::size_t joint) const;
    void find_parents();
    const Transform& world(std::size_t node);

    GltfFile& file_;
    std::map<std::size_t, Skin> skins_;
    std::vector<Parent> parents_; ///< of each node, once one was asked for
    std::vector<std::optional<Transform>> worlds_;
};

/// From the numbers of each vertex of a primitive into the world: with its node, or with its joints. Borrows
/// all that it is given.
class VertexTransforms {
public:
    /// `which`: the primitive, for messages
    /// Errors  invalid_argument for attributes that are none of joints and weights
    VertexTransforms(const GltfFile& file, GltfJoints& joints, const GltfPose& pose, const Json& attributes,
                     std::string which, const FindAttribute& find, NotShown& not_shown);

    /// Valid until the next call. Errors  invalid_argument for a joint that the skin does not have
    [[nodiscard]] const Transform& of(std::uint64_t vertex) {
        return sets_.empty() ? pose_.world : blended(vertex);
    }
    /// Whether a triangle has its outside where its corners run clockwise.
    [[nodiscard]] bool mirrors(const std::array<std::uint64_t, 3>& corners);

private:
    struct Set {
        const GltfAccessor *joints, *weights;
    };
    struct Influence {
        double weight;
        const Transform* matrix;
    };
    struct Blend {
        std::optional<std::uint64_t> vertex;
        Transform transform;
    };

    void find_sets(const Json& attributes, const FindAttribute& find, NotShown& not_shown);
    const Transform& blended(std::uint64_t vertex);
    Transform blend(std::uint64_t vertex);

    const GltfFile& file_;
    GltfJoints& joints_;
    const GltfPose& pose_;
    std::string which_;
    NotShown& not_shown_;
    std::vector<Set> sets_;             ///< none: no joint moves anything
    std::vector<Influence> influences_; ///< of one vertex
    std::vector<Blend> recent_;         ///< triangles share corners, and each corner is asked for thrice
};

} // namespace path_tracer
