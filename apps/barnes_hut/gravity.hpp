// apps/barnes_hut/gravity.hpp - what bodies do to each other, as jobs.
#pragma once
#include "tree.hpp"
#include <headrace/domains/headrace.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace barnes_hut {

enum class KernelChoice : std::uint8_t { consumer, producer, producer_node };
[[nodiscard]] const char* name_of(KernelChoice kernel);

/// Where trees are built. By itself: on a device if all devices are NVIDIA's, else on the host.
enum class TreeChoice : std::uint8_t { by_itself, host, device };

struct Settings {
    KernelChoice kernel = KernelChoice::producer;
    bool quadrupole = true;
    double theta = 0.5;         ///< 0 to 1; 0: every pair
    double softening = 0;       ///< Plummer's, a length
    std::uint32_t load = 0;     ///< synthetic, at each visited node
    std::uint32_t budget = 768; ///< interactions of a group, list entries, after which it hands on its walk
    TreeChoice tree = TreeChoice::by_itself;
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
///     gravity.build_tree(bodies, run);
///     run(gravity.job());
///     gravity.collect(field);
///
/// Lifetime  borrows the runtime. Jobs share the data; one at a time
class Gravity {
public:
    /// Runs a job to its end. Errors: what went wrong with it
    using Run = std::function<void(const headrace::Job&)>;

    Gravity(const headrace::Runtime& runtime, const Settings& settings);

    /// For wherever the job will run; `run` is for building it on a device. Errors: as TreeBuilder::build
    void build_tree(const Bodies& bodies, const Run& run);
    /// `with_potential`: else there will be none to collect.
    [[nodiscard]] headrace::Job job(bool with_potential);
    /// Of the job that has ended. Blocks while sums are collected.
    void collect(Field& field) const;
    [[nodiscard]] Interactions interactions() const;
    [[nodiscard]] std::size_t nodes() const { return nodes_; } ///< of the tree

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
    /// What building on a device needs beside them.
    struct Sources {
        headrace::Domain<Vector> places;
        headrace::Domain<double> masses;
        headrace::Domain<std::uint32_t> order, level_nodes;
    };
    void make_room(std::size_t nodes, std::size_t bodies);
    void build_on_host(const Bodies& bodies);
    void build_on_device(const Bodies& bodies, const Run& run);
    [[nodiscard]] headrace::Job tree_job() const;
    [[nodiscard]] Space space() const;

    const headrace::Runtime& runtime_;
    Settings settings_;
    bool is_on_device_;
    TreeBuilder builder_;
    Scale scale_;
    std::size_t nodes_ = 0;
    std::span<const std::uint32_t> order_; ///< sorted place -> body of the input
    std::optional<Domains> domains_;
    std::optional<Sources> sources_;
    bool with_potential_ = false;
};

} // namespace barnes_hut
