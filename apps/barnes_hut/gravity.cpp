// apps/barnes_hut/gravity.cpp - see gravity.hpp.
#include "gravity.hpp"
#include "barnes_hut.kernels.hpp"
#include "device_build.hpp"
#include "motion.hpp"

#include "barnes_hut.cl.hpp"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>

namespace barnes_hut {
namespace {

using headrace::Domain;
using headrace::Task;

template <class T>
Domain<T> pinned(const headrace::Runtime& runtime, const char* name,
                 std::initializer_list<std::uint64_t> extent) {
    std::uint64_t size = sizeof(T);
    for (const std::uint64_t n : extent) size *= n;
    return Domain<T>(name, extent, runtime.allocate_host(size));
}

/// All cores at once: one of them cannot use all of the memory's speed.
template <class F>
void in_blocks(std::size_t count, F&& f) {
    constexpr std::size_t block = 1 << 14;
    tbb::parallel_for(std::size_t{0}, (count + block - 1) / block,
                      [&](std::size_t i) { f(i * block, std::min(count, (i + 1) * block)); });
}

template <class T>
void copy(std::span<const T> from, const Domain<T>& to) {
    const std::span<T> elements = to.fill();
    in_blocks(from.size(), [&](std::size_t begin, std::size_t end) {
        std::copy(from.begin() + static_cast<std::ptrdiff_t>(begin),
                  from.begin() + static_cast<std::ptrdiff_t>(end),
                  elements.begin() + static_cast<std::ptrdiff_t>(begin));
    });
}

template <class T>
void clear(const Domain<T>& domain) {
    const std::span<T> elements = domain.fill();
    in_blocks(elements.size(), [&](std::size_t begin, std::size_t end) {
        std::ranges::fill(elements.subspan(begin, end - begin), T{});
    });
}

headrace::OpenClKernel opencl_kernel(KernelChoice choice) {
    headrace::OpenClKernel kernel;
    kernel.name = "barnes_hut.cl";
    kernel.source = headrace::embedded::barnes_hut_cl;
    if (choice == KernelChoice::producer) {
        kernel.kinds = WalkSomeOfTree::Units::count;
        kernel.unit_bytes = sizeof(WalkPart);
        kernel.max_spawns = BARNES_HUT_STAGED_PARTS;
    } else if (choice == KernelChoice::producer_node) {
        kernel.kinds = VisitNode::Units::count;
        kernel.unit_bytes = sizeof(NodeVisit);
        kernel.max_spawns = 8;
    }
    if (choice != KernelChoice::producer_node) {
        kernel.by_group = true;
        kernel.scratch_words = [](std::uint32_t lanes) -> std::uint32_t { // of its struct Shared
            constexpr std::uint32_t each =
                (std::max(sizeof(NodeSource), sizeof(Body)) + sizeof(NodeLink)) / 4 + BARNES_HUT_LEVELS + 1;
            return lanes * each + 16;
        };
    }
    return kernel;
}

/// Of a lane group in a job's first launch: enough for most jobs to end in it, few enough for it to end
/// within a tenth of a second. Where units are heavy beyond that, the engine finds out.
std::uint32_t first_rounds(const Settings& settings) {
    constexpr double usual_theta = 0.3;
    if (settings.load > 0 || settings.theta < usual_theta) return 0;
    switch (settings.kernel) {
    case KernelChoice::consumer:
        return 64;
    case KernelChoice::producer:
        return 256;
    case KernelChoice::producer_node:
        return 1000;
    }
    return 0;
}

} // namespace

const char* name_of(KernelChoice kernel) {
    constexpr const char* names[] = {"consumer", "producer", "producer-node"};
    return names[static_cast<unsigned>(kernel)];
}

Gravity::Gravity(const headrace::Runtime& runtime, const Settings& settings)
    : runtime_(runtime), settings_(settings), is_on_device_(settings.tree == TreeChoice::device) {
#if defined(BARNES_HUT_HAS_CUDA)
    if (settings.tree == TreeChoice::by_itself)
        is_on_device_ = std::ranges::all_of(runtime.devices(), [](const headrace::DeviceInfo* device) {
            return device->technology == headrace::technology::Cuda::name;
        });
#endif
    std::ranges::fill(counts_.fill(), 0); // a run that goes on may have no job to do, and reports them
}

/// For so many nodes at least.
void Gravity::make_room(std::size_t nodes, std::size_t bodies) {
    if (domains_ && domains_->bodies.size() == bodies && domains_->tests.size() >= nodes) return;
    domains_.reset(); // before the new ones: there may not be room for both
    const std::size_t groups = (bodies + BARNES_HUT_GROUP - 1) / BARNES_HUT_GROUP;
    domains_ = Domains{pinned<NodeTest>(runtime_, "node tests", {nodes}),
                       pinned<NodeLink>(runtime_, "node links", {nodes}),
                       pinned<Moments>(runtime_, "moments", {nodes}),
                       pinned<Body>(runtime_, "bodies", {bodies}),
                       pinned<GroupBox>(runtime_, "group boxes", {groups}),
                       pinned<Force>(runtime_, "forces", {groups, BARNES_HUT_GROUP})};
    std::ranges::fill(domains_->forces.fill(), Force{}); // of the last group no kernel writes all
    if (!is_on_device_) return;
    clear(domains_->tests); // the tree job writes as many nodes as there are
    clear(domains_->links);
    clear(domains_->moments);
}

void Gravity::place(const Bodies& bodies, std::span<const double> strengths) {
    check_size(bodies);
    bodies_ = &bodies;
    strengths_ = strengths;
    knows_strength_ = !strengths.empty();
    has_moved_ = false;
    if (is_on_device_) place_on_device();
}

void Gravity::place_on_device() {
    const std::size_t count = bodies_->size();
    if (!sources_ || sources_->places.size() != count) {
        sources_.reset(); // before the new ones: there may not be room for both
        sources_ = Sources{pinned<Vector>(runtime_, "places", {count}),
                           pinned<Vector>(runtime_, "velocities", {count}),
                           pinned<double>(runtime_, "masses", {count}),
                           pinned<double>(runtime_, "strengths", {count}),
                           Domain<Extremes>("extremes", {1}),
                           pinned<std::uint32_t>(runtime_, "order", {count}),
                           Domain<std::uint32_t>("nodes of levels", {tree_levels})};
    }
    copy<Vector>(bodies_->places, sources_->places);
    copy<Vector>(bodies_->velocities, sources_->velocities);
    copy<double>(bodies_->masses, sources_->masses);
    if (knows_strength_) copy<double>(strengths_, sources_->strengths);
    whole_ = whole_of(*bodies_);
    scale_ = scale_of(whole_, settings_.softening, settings_.gravity);
}

void Gravity::build_tree(const Run& run) {
    HEADRACE_ASSERT(bodies_ != nullptr);
    is_on_device_ ? build_on_device(run) : build_on_host();
}

void Gravity::build_on_host() {
    const Tree& tree =
        builder_.build(*bodies_, opening(), strengths_, settings_.softening, settings_.gravity);
    scale_ = tree.scale;
    order_ = tree.order;
    nodes_ = tree.tests.size();
    if (!domains_ || domains_->tests.size() < nodes_) make_room(nodes_ + nodes_ / 8, bodies_->size());
    make_room(nodes_, bodies_->size());
    copy<NodeTest>(tree.tests, domains_->tests);
    copy<NodeLink>(tree.links, domains_->links);
    copy<Moments>(tree.moments, domains_->moments);
    copy<Body>(tree.bodies, domains_->bodies);
    copy<GroupBox>(tree.boxes, domains_->boxes);
}

/// How many nodes there will be shows when they are there: if the room was too small, once more.
void Gravity::build_on_device(const Run& run) {
    if (has_moved_) {
        whole_.places = sources_->extremes.gather().front();
        scale_ = scale_of(whole_, settings_.softening, settings_.gravity);
    }
    for (std::size_t room = std::max(bodies_->size() / 3, nodes_) + 64;; room *= 2) {
        make_room(room, bodies_->size());
        run(tree_job());
        const std::span<const std::uint32_t> levels = sources_->level_nodes.gather();
        nodes_ = std::accumulate(levels.begin(), levels.end(), std::size_t{0});
        if (nodes_ <= domains_->tests.size()) break;
    }
}

/// Of the accuracy where it can be, with theta 1 at least; else of theta.
Opening Gravity::opening() const {
    const bool has_accuracy = settings_.accuracy > 0 && knows_strength_;
    return {inverse_of(has_accuracy ? 1 : settings_.theta),
            has_accuracy ? static_cast<float>(settings_.accuracy) : 0.0f, settings_.quadrupole};
}

headrace::Job Gravity::tree_job() const {
    const auto view = [d = *domains_, s = *sources_, scale = scale_,
                       opening = opening()](Task& task) -> TreeBuild {
        return {task.read(s.places).origin,
                task.read(s.masses).origin,
                static_cast<std::uint32_t>(s.places.size()),
                scale.placement(),
                1 / scale.acceleration(),
                opening,
                opening.accuracy > 0 ? task.read(s.strengths).origin : nullptr,
                task.write(s.order).origin,
                task.write(d.bodies).origin,
                task.write(d.boxes).origin,
                task.update(d.tests).origin,
                task.update(d.links).origin,
                task.update(d.moments).origin,
                static_cast<std::uint32_t>(d.tests.size()),
                task.write(s.level_nodes).origin,
                nullptr,
                nullptr,
                nullptr};
    };
    headrace::Job job("tree", 1);
    if (opening().accuracy > 0) job.reads(sources_->strengths);
    // How many nodes there will be is not known yet: the room behind the last one stays as it is.
    job.reads(sources_->places, sources_->masses)
        .writes(sources_->order, sources_->level_nodes, domains_->bodies, domains_->boxes)
        .updates(domains_->tests, domains_->links, domains_->moments);
    job.host_function(
        "cpu", [view](Task& task, const headrace::NativeStream&) { barnes_hut::build_on_host(view(task)); });
#if defined(BARNES_HUT_HAS_CUDA)
    job.host_function("cuda", [view](Task& task, const headrace::NativeStream& stream) {
        build_on_cuda(view(task), stream);
    });
#endif
    return job;
}

/// As kernels take it. So little that its square is below the floats of all devices is none.
float Gravity::softening2() const {
    const double softening = settings_.softening / scale_.length;
    return softening < 1e-18 ? 0.0f : static_cast<float>(softening * softening);
}

Space Gravity::space() const {
    return {softening2(),
            static_cast<std::uint32_t>(domains_->bodies.size()),
            static_cast<std::uint32_t>(domains_->boxes.size()),
            settings_.quadrupole ? 1u : 0u,
            with_potential_ ? 1u : 0u,
            settings_.load,
            settings_.budget};
}

headrace::Job Gravity::job(bool with_potential) { return job(with_potential, counts_); }

headrace::Job Gravity::rehearsal(bool with_potential) {
    return job(with_potential, Counts("interactions", {counts_.size()}));
}

headrace::Job Gravity::job(bool with_potential, const Counts& counts) {
    HEADRACE_ASSERT(domains_.has_value());
    with_potential_ = with_potential;
    const auto view = [d = *domains_, space = space()](Task& task) {
        return TreeView{task.read(d.tests),  task.read(d.links), task.read(d.moments),
                        task.read(d.bodies), task.read(d.boxes), space};
    };
    const bool by_body = settings_.kernel == KernelChoice::producer_node;
    headrace::Job job(by_body ? "gravity by node visits" : "gravity",
                      by_body ? domains_->bodies.size() : domains_->boxes.size());
    const bool by_accuracy = opening().accuracy > 0;
    std::ostringstream name; // of what measurements are kept for
    name << "gravity, " << name_of(settings_.kernel) << (by_accuracy ? ", accuracy " : ", theta ")
         << (by_accuracy ? settings_.accuracy : settings_.theta)
         << (settings_.quadrupole ? ", quadrupoles" : "") << (with_potential ? ", potential" : "")
         << ", load " << settings_.load;
    job.kernel_name(name.str())
        .reads(domains_->tests, domains_->links, domains_->moments, domains_->bodies, domains_->boxes)
        .accumulates(counts)
        .tune({.wishes = {}, .first_rounds = first_rounds(settings_)});
    const auto forces = domains_->forces;
    // The last group may have fewer bodies than others: behind theirs there is nothing to write.
    job.writes(part(forces, [by_body, bodies = domains_->bodies.size()](headrace::IndexRange units) {
        if (by_body) return units;
        return headrace::IndexRange{units.begin * BARNES_HUT_GROUP,
                                    std::min<std::uint64_t>(units.end * BARNES_HUT_GROUP, bodies)};
    }));
    // A device alone gets everything at once.
    if (runtime_.devices().size() == 1)
        job.split_by([](headrace::IndexRange left, std::uint64_t) { return left.size(); });
    if (settings_.kernel == KernelChoice::consumer)
        job.kernel([=](Task& task) { return WalkTree{view(task), task.write(forces), task.sum(counts)}; });
    else if (by_body)
        job.seeds(BodiesAtRoot{}).kernel([=](Task& task) {
            return VisitNode{view(task), task.write(forces), task.sum(counts)};
        });
    else
        job.seeds(GroupsAtRoot{}).kernel([=](Task& task) {
            return WalkSomeOfTree{view(task), task.write(forces), task.sum(counts)};
        });
    job.opencl(opencl_kernel(settings_.kernel),
               [d = *domains_, counts, space = space()](Task& task, headrace::OpenClArguments& arguments) {
                   arguments.buffer(task.memory(d.tests))
                       .buffer(task.memory(d.links))
                       .buffer(task.memory(d.moments))
                       .buffer(task.memory(d.bodies))
                       .buffer(task.memory(d.boxes))
                       .buffer(task.memory(d.forces))
                       .buffer(task.memory(counts))
                       .value(space);
               });
    return job;
}

void Gravity::collect(Field& field) const {
    const std::span<const Force> forces = domains_->forces.gather();
    const std::span<const std::uint32_t> order = is_on_device_ ? sources_->order.gather() : order_;
    const double per_acceleration = scale_.acceleration(), per_potential = scale_.potential();
    check_distances();
    field.accelerations.resize(order.size());
    field.potentials.resize(with_potential_ ? order.size() : 0);
    std::atomic<bool> are_finite = true;
    in_blocks(order.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const Force& force = forces[i];
            const Vector pull{per_acceleration * double{force.x}, per_acceleration * double{force.y},
                              per_acceleration * double{force.z}};
            const double potential = with_potential_ ? per_potential * double{force.potential} : 0;
            if (!(std::isfinite(pull.x) && std::isfinite(pull.y) && std::isfinite(pull.z) &&
                  std::isfinite(potential)))
                are_finite.store(false, std::memory_order_relaxed); // read when all blocks have ended
            field.accelerations[order[i]] = pull;
            if (with_potential_) field.potentials[order[i]] = potential;
        }
    });
    if (!are_finite.load(std::memory_order_relaxed))
        throw headrace::Error{headrace::ErrorKind::invalid_argument,
                              "forces are beyond what is computed with: heavy bodies are too near to each "
                              "other beside far lighter ones; use --softening, or leave the lightest out"};
}

/// Of what kernels have counted.
void Gravity::check_distances() const {
    const std::span<const std::uint64_t> counts = counts_.gather();
    const bool is_softening_lost = settings_.softening > 0 && softening2() == 0;
    if (counts[BARNES_HUT_TOO_NEAR] == 0 && !(is_softening_lost && counts[BARNES_HUT_TOGETHER] > 0)) return;
    std::ostringstream why;
    why << "bodies are nearer to each other than " << BARNES_HUT_NEAREST * scale_.length
        << ", which is 4e-16 of the space that all are in, so their forces are not known; use a --softening "
           "of "
        << BARNES_HUT_NEAREST * scale_.length << " or more, or leave out what is far away";
    throw headrace::Error{headrace::ErrorKind::invalid_argument, why.str()};
}

bool Gravity::has_infinite_potential() const {
    return settings_.softening == 0 && counts_.gather()[BARNES_HUT_TOGETHER] > 0;
}

void Gravity::restore(const Field& field) {
    HEADRACE_ASSERT(is_on_device_ && domains_.has_value());
    const std::span<Force> forces = domains_->forces.fill();
    const std::span<const std::uint32_t> order = sources_->order.gather();
    std::ranges::fill(forces, Force{});
    // Each was a float times the unit: two roundings of a double do not change which float.
    const double per_acceleration = scale_.acceleration();
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Vector& pull = field.accelerations[order[i]];
        forces[i] = {static_cast<float>(pull.x / per_acceleration),
                     static_cast<float>(pull.y / per_acceleration),
                     static_cast<float>(pull.z / per_acceleration), 0};
    }
}

headrace::Job Gravity::motion(double kick, double drift) {
    HEADRACE_ASSERT(is_on_device_ && domains_.has_value());
    has_moved_ = knows_strength_ = true;
    const auto view = [d = *domains_, s = *sources_, scale = scale_, kick, drift](Task& task) -> Motion {
        return {task.update(s.places).origin,
                task.update(s.velocities).origin,
                task.write(s.strengths).origin,
                task.write(s.extremes).origin,
                task.read(s.order).origin,
                task.read(d.forces).origin,
                static_cast<std::uint32_t>(s.places.size()),
                scale.acceleration(),
                kick,
                drift};
    };
    headrace::Job job("motion", 1);
    job.updates(sources_->places, sources_->velocities)
        .reads(sources_->order, domains_->forces)
        .writes(sources_->strengths, sources_->extremes);
    job.host_function("cpu", [view](Task& task, const headrace::NativeStream&) { move_on_host(view(task)); });
#if defined(BARNES_HUT_HAS_CUDA)
    job.host_function("cuda", [view](Task& task, const headrace::NativeStream& stream) {
        move_on_cuda(view(task), stream);
    });
#endif
    return job;
}

void Gravity::collect(Bodies& bodies) const {
    const auto fetch = [](const Domain<Vector>& from, std::vector<Vector>& to) {
        const std::span<const Vector> elements = from.gather();
        to.assign(elements.begin(), elements.end());
    };
    fetch(sources_->places, bodies.places);
    fetch(sources_->velocities, bodies.velocities);
}

Interactions Gravity::interactions() const {
    Interactions sum;
    const std::span<const std::uint64_t> counts = counts_.gather();
    for (std::size_t i = 0; i < 2 * BARNES_HUT_COUNTS; i += 2) {
        sum.with_nodes += counts[i];
        sum.with_bodies += counts[i + 1];
    }
    return sum;
}

} // namespace barnes_hut
