// apps/barnes_hut/gravity.hpp - what bodies do to each other, as jobs.
#pragma once
#include "tree.hpp"
#include <headrace/domains/headrace.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace barnes_hut {

enum class KernelChoice : std::uint8_t { consumer, producer, producer_node };
[[nodiscard]] const char* name_of(KernelChoice kernel);

struct Settings {
    KernelChoice kernel = KernelChoice::producer;
    bool quadrupole = true;
    double theta = 0.5;         ///< 0 to 1; 0: every pair
    double softening = 0;       ///< Plummer's, a length
    std::uint32_t load = 0;     ///< synthetic, at each visited node
    std::uint32_t budget = 768; ///< interactions of a group, list entries, after which it hands on its walk
};

/// In the order of the input.
struct Field {
    std::vector<Vector> accelerations;
    std::vector<double> potentials; ///< empty unless asked for
};

/// Pairs that forces were computed of.
struct Interactions {
    std::uint64_t with_nodes = 0, with_bodies = 0;
};

/// Computes forces, again and again, in the same memory.
///
///     gravity.build_tree(bodies);
///     runtime.submit(gravity.job()).wait();
///     gravity.collect(field);
///
/// Lifetime  borrows the runtime. Jobs share the data; one at a time
class Gravity {
public:
    Gravity(const headrace::Runtime& runtime, const Settings& settings)
        : runtime_(runtime), settings_(settings) {}

    /// On the host, for wherever the job will run. Errors: as TreeBuilder::build
    void build_tree(const Bodies& bodies);
    /// `with_potential`: else there will be none to collect.
    [[nodiscard]] headrace::Job job(bool with_potential);
    /// Of the job that has ended. Blocks while sums are collected.
    void collect(Field& field) const;
    [[nodiscard]] Interactions interactions() const;
    [[nodiscard]] const Tree& tree() const { return *tree_; }

private:
    /// The arrays as domains; made anew when the tree has outgrown them.
    struct Domains {
        headrace::Domain<NodeTest> tests;
        headrace::Domain<NodeLink> links;
        headrace::Domain<Moments> moments;
        headrace::Domain<Body> bodies;
        headrace::Domain<GroupBox> boxes;
        headrace::Domain<Force> forces; ///< [group, place]
        headrace::Domain<std::uint64_t> counts;
    };
    [[nodiscard]] Domains make_domains(std::size_t nodes, std::size_t bodies) const;
    [[nodiscard]] Space space() const;

    const headrace::Runtime& runtime_;
    Settings settings_;
    TreeBuilder builder_;
    const Tree* tree_ = nullptr;
    std::optional<Domains> domains_;
    bool with_potential_ = false;
};

} // namespace barnes_hut
