// apps/barnes_hut/gravity.hpp - what bodies do to each other, as jobs.
#pragma once
#include "tree.hpp"
#include <headrace/headrace.hpp>

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
    double theta = 0.5;     ///< 0 to 1; 0: every pair
    double accuracy = 0;    ///< > 0: of an acceleration; decides instead of theta where those are known
    double softening = 0;   ///< Plummer's, a length
    double gravity = 1;     ///< G
    std::uint32_t load = 0; ///< synthetic, at each visited node
    /// Interactions of a group, list entries, after which a producer hands on its walk if others are idle.
    std::uint32_t budget = 256;
    TreeChoice tree = TreeChoice::by_itself;
};

/// Pairs that forces were computed of.
struct Interactions {
    std::uint64_t with_nodes = 0, with_bodies = 0;
};

/// Computes forces, again and again, in the same memory.
///
///     gravity.place(bodies);
///     gravity.build_tree(run);
///     run(gravity.job(true));
///     gravity.collect(field);
///
/// Where it builds trees on devices, bodies stay there and are moved there: see moves_bodies().
///
/// Lifetime  borrows the runtime. Jobs share the data; one at a time
class Gravity {
public:
    /// Runs a job to its end. Errors: what went wrong with it
    using Run = std::function<void(const headrace::Job&)>;

    Gravity(const headrace::Runtime& runtime, const Settings& settings);

    /// What it is about. Borrowed until they are placed anew. `strengths`: see TreeBuilder::build.
    void place(const Bodies& bodies, std::span<const double> strengths = {});
    /// For wherever the job will run; `run` is for building it on a device. Errors: as TreeBuilder::build
    void build_tree(const Run& run);
    /// `with_potential`: else there will be none to collect.
    [[nodiscard]] headrace::Job job(bool with_potential);
    /// A job like that, which interactions() does not count: for who wants to know how long it takes.
    [[nodiscard]] headrace::Job rehearsal(bool with_potential);
    /// Of the job that has ended. Blocks while sums are collected.
    /// Errors  invalid_argument, which range: bodies are too near to each other, or forces beyond floats
    void collect(Field& field) const;
    /// Whether bodies are at one place without softening, so that their potential is infinite; since the
    /// beginning.
    [[nodiscard]] bool has_infinite_potential() const;

    /// Whether it has the bodies on devices, where motion() moves them: no field need be collected for that.
    [[nodiscard]] bool moves_bodies() const { return is_on_device_; }
    /// As if the last job had found this, of bodies that are placed and whose tree is built. On devices
    /// alone: elsewhere forces are the host's after each job.
    void restore(const Field& field);
    /// By the forces of the last job: velocities change by `kick` times them, then places by `drift` times
    /// the velocities.
    [[nodiscard]] headrace::Job motion(double kick, double drift);
    /// Places and velocities after motion. Blocks while they are copied.
    void collect(Bodies& bodies) const;

    [[nodiscard]] Interactions interactions() const;           ///< of all jobs so far
    [[nodiscard]] std::size_t nodes() const { return nodes_; } ///< of the tree

private:
    using Counts = headrace::Domain<std::uint64_t>;
    [[nodiscard]] headrace::Job job(bool with_potential, const Counts& counts);
    /// The arrays as domains; made anew when the tree has outgrown them.
    struct Domains {
        headrace::Domain<NodeTest> tests;
        headrace::Domain<NodeLink> links;
        headrace::Domain<Moments> moments;
        headrace::Domain<Body> bodies;
        headrace::Domain<GroupBox> boxes;
        headrace::Domain<Force> forces; ///< [group, place]
    };
    /// Bodies on devices, in the order of the input.
    struct Sources {
        headrace::Domain<Vector> places, velocities;
        headrace::Domain<double> masses, strengths;
        headrace::Domain<Extremes> extremes; ///< of the places; one element
        headrace::Domain<std::uint32_t> order, level_nodes;
    };
    void make_room(std::size_t nodes, std::size_t bodies);
    void place_on_device();
    void build_on_host();
    void build_on_device(const Run& run);
    [[nodiscard]] headrace::Job tree_job() const;
    [[nodiscard]] Opening opening() const;
    [[nodiscard]] Space space() const;
    [[nodiscard]] float softening2() const;
    void check_distances() const;

    const headrace::Runtime& runtime_;
    Settings settings_;
    bool is_on_device_;
    TreeBuilder builder_;
    const Bodies* bodies_ = nullptr; ///< on the host; on devices there may be newer ones
    std::span<const double> strengths_;
    bool has_moved_ = false;      ///< the bodies on devices, since they were placed
    bool knows_strength_ = false; ///< strengths are those of a field, on whichever side
    Scale scale_;
    Whole whole_; ///< of the bodies on devices, as they are now
    std::size_t nodes_ = 0;
    std::span<const std::uint32_t> order_; ///< sorted place -> body of the input; of a tree built on the host
    std::optional<Domains> domains_;
    std::optional<Sources> sources_;
    Counts counts_{"interactions", {BARNES_HUT_TOGETHER + 1}};
    bool with_potential_ = false;
};

} // namespace barnes_hut
