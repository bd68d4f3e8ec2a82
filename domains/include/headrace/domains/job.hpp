// domains/job.hpp - kernel x domains x index space: what a user submits.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/policy.hpp>
#include <headrace/domains/detail/job_node.hpp>
#include <headrace/domains/slice.hpp>
#include <headrace/domains/summable.hpp>
#include <headrace/domains/task.hpp>
#include <headrace/persistent/detail/kernel_checks.hpp>
#include <headrace/persistent/engine.hpp>
#include <headrace/persistent/launcher.hpp>
#include <headrace/persistent/opencl/opencl_kernel.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace headrace {

class JobHandle;
template <class Seeds>
class SeededJob;

/// How one technology runs a job: a kernel for the engine, or a host function that launches its own work.
struct KernelVariant {
    using Bind = std::function<std::unique_ptr<BoundKernel>(Task&)>;
    using HostFunction = std::function<void(Task&, const NativeStream&)>;
    std::string technology;
    std::variant<Bind, HostFunction> way;

    /// Null: it is a host function.
    [[nodiscard]] const Bind* bind() const noexcept { return std::get_if<Bind>(&way); }
    /// Where `bind()` is null.
    [[nodiscard]] const HostFunction& host_function() const { return std::get<HostFunction>(way); }
};

/// What a job's hooks get: the tasks that begin or end together, as the tasks of one launch do.
struct TaskStatistics {
    std::string_view device;            ///< id of the device
    std::span<const IndexRange> ranges; ///< of work units; empty for units that came from another device
    double seconds = 0;                 ///< time that the device worked on them; 0 in the `before` hook
    double units_per_second = 0;        ///< during `seconds`
    std::uint64_t bytes_in = 0, bytes_out = 0;
};
using TaskHook = std::function<void(const TaskStatistics&)>;

/// The description of a job. Nothing runs until Runtime::submit. Copies are cheap. Each call returns the job
/// itself, so calls can be chained.
///
/// An access says how work units use a domain x. Its meaning does not depend on the number of devices:
///
/// access        | units                               | several devices            | view, in a task t
/// reads         | read the contents                   | one replica each           | t.read(x)
/// writes        | write their rows, or part           | each the part of its tasks | t.write(x)
///  of whole x   | write any element                   | all work in one memory     | t.write(x)
/// updates       | read and write, as writes does      | as writes does             | t.update(x)
/// scatters      | write any element, each one once    | private, from the contents | t.scatter(x)
/// accumulates   | add to any element, at any time     | private, from zero         | t.sum(x)
///  of ExactSum  | the same; rounded once              | planes of words, from zero | t.sum(x).add(i, 3.0)
/// reduces<Op>   | combine with any element by Op      | private, from identities   | t.reduce<Op>(x)
/// appends       | add records, of any number          | private, from no records   | t.append(x)
///
/// Under writes(), elements that no unit writes are unspecified, on every device. If the parts of two tasks
/// overlap under writes() or updates(), the job fails and names both tasks.
///
/// "private": each device has its own replica, as large as the domain. Planes take 320 bytes a sum of
/// doubles, 56 of floats, 16 with a declared range. A new replica moves no data, except under
/// scatters(), which copies the contents. Joining copies each to the host: of appended records only
/// those that exist; of plain sums and scattered elements, one slice from each of the devices that reach
/// each other. Jobs in a row with the same access (and Op) run side by side. Before another access, or a
/// gather, their replicas are joined once.
///
/// Threads: one at a time. Errors: invalid_argument for a contradiction, at the call that causes it.
class HEADRACE_EXPORT Job {
public:
    struct Use {
        [[no_unique_address]] Slice slice; // `access` lies in its padding: many jobs may wait
        Access access;
        const Joining* joining = nullptr; ///< how private replicas are joined; null: the job has none

        /// Any task writes any element: all tasks work on one replica.
        [[nodiscard]] bool is_of_one_replica() const {
            return headrace::writes(access) && !slice.part && !joining;
        }
    };

    /// `work_units`: the indices are 0 to work_units - 1. A consumer kernel is called with them; seeds expand
    /// them. A job with 0 work units ends as soon as its predecessors end.
    Job(std::string name, std::uint64_t work_units);

    /// Each of `slices` is a domain (every task needs all of it), or `rows(domain)`, or `part(domain,
    /// callback)`.
    template <class... Slices>
    Job& reads(Slices&&... slices) {
        (use(Slice(std::forward<Slices>(slices)), Access::read), ...);
        return *this;
    }
    template <class... Slices>
    Job& writes(Slices&&... slices) {
        (use(Slice(std::forward<Slices>(slices)), Access::write), ...);
        return *this;
    }
    template <class... Slices>
    Job& updates(Slices&&... slices) {
        (use(Slice(std::forward<Slices>(slices)), Access::update), ...);
        return *this;
    }
    template <class... Domains>
    Job& accumulates(const Domains&... domains) {
        static_assert((SumsOf<typename Domains::Element>::check() && ...));
        (use(Slice(domains), Access::accumulate, &SumsOf<typename Domains::Element>::joining()), ...);
        return *this;
    }
    /// Any unit combines values into any element by Op: Min, Max, BitAnd, BitOr, BitXor or a struct of the
    /// user (reduction.hpp). Earlier contents take part; without any, Op's identity does. Kernels get
    /// `t.reduce<Op>(domain)`: the type of the view contains the operation. If elements do not have 1, 2, 4
    /// or 8 bytes, the domain has at most 4096 bytes.
    template <class Op, class... Domains>
    Job& reduces(const Domains&... domains) {
        constexpr bool fits = (Reducible<typename Domains::Element, Op> && ...);
        static_assert(fits, HEADRACE_NOT_REDUCIBLE);
        if constexpr (fits) (reduce(domains, joins_reductions<typename Domains::Element, Op>()), ...);
        return *this;
    }
    /// Any unit writes any element, and at most one unit writes each. An element that no unit writes keeps
    /// its value, or is zero if it had none. Each device writes to a private replica. Joining takes the
    /// elements that differ from their earlier values. If two devices wrote different new values to one
    /// element, a request for the result fails. In checked mode a write of the earlier value counts too, and
    /// such a conflict fails the job.
    template <class... Domains>
    Job& scatters(const Domains&... domains) {
        (use(Slice(domains), Access::accumulate, &joins_scattered()), ...);
        return *this;
    }

    /// Any unit adds any number of records. They follow the records of earlier jobs, in any order. The size
    /// of a domain is its capacity. If all devices together append more, later reads of the domain fail
    /// (Domain::gather, Domain::count, a job that reads it).
    template <class... Domains>
    Job& appends(const Domains&... domains) {
        (use(Slice(domains), Access::accumulate, &joins_appended()), ...);
        return *this;
    }

    /// This job starts when `other` has ended. It fails if `other` failed.
    Job& after(const JobHandle& other);
    /// This job fails if a conflicting job fails that was submitted before it and has not ended yet.
    /// (Without this call, it waits for such jobs, and fails only if it reads what one of them was to
    /// write.)
    Job& in_order();
    /// This job conflicts with no other job that uses the same domain: neither waits for the other.
    /// Jobs that use disjoint parts of one domain need this to run at the same time. The caller
    /// guarantees that the parts are disjoint. Sums and other private replicas that are joined later
    /// stay in order.
    Job& concurrent();
    /// Only devices with these ids take part; empty: all may.
    Job& only_on(std::vector<std::string> devices);
    /// A device takes tasks from a job with the highest priority among those that have work; default 0.
    /// Running work of lower priority yields at its next pause. Jobs of equal priority get equal time.
    Job& priority(int priority);
    /// Replaces the runtime's policy. `make` is called once per submission; `name` alone: see make_policy.
    Job& policy(MakePolicy make, std::string name);
    Job& policy(std::string name);
    /// Key of the kept measurements and of the launch lengths of earlier jobs; default: the job's name. Jobs
    /// with work units that take different time should use different names.
    Job& kernel_name(std::string name);
    /// The device's thread calls `before` when the tasks are about to begin and `after` when they have ended.
    /// It serves no device meanwhile. Hooks must not gather what the job writes. An exception fails the job.
    Job& on_tasks(TaskHook before, TaskHook after);
    /// Tasks are cut at multiples of `work_units`.
    Job& grain(std::uint64_t work_units);
    /// Only these work units are done; default: all. Indices, rows and parts stay as they are. So copies of
    /// one job with ranges that follow each other do what the job does. Errors: invalid_argument for units
    /// that the job does not have, or a range that begins or ends inside a grain.
    Job& only_units(IndexRange units);
    /// The partitioning callback of the index space: returns how many of the units left form a task when the
    /// policy wants `wanted` units. Default: `wanted`, rounded up to the grain.
    Job& split_by(std::function<std::uint64_t(IndexRange left, std::uint64_t wanted)> callback);
    /// Devices without work get units from other devices. A unit must mean the same on every device,
    /// whichever task produced it: it holds indices and numbers, in the same words in OpenCL C, and its
    /// kernel does not use the range of its task. Only for jobs that read whole domains and write only by
    /// accumulates, reduces, scatters or appends (else invalid_argument): a task's part of a domain stays on
    /// the task's device.
    Job& share_units();
    /// Queue sizes and thresholds of the persistent engine, if its own choice is not good enough.
    Job& tune(EngineOptions options);

    /// A consumer kernel for CPU, CUDA and HIP from one source. `make(Task&)` returns the kernel struct with
    /// its views.
    template <class Make>
    Job& kernel(Make make) {
        return generic_kernel(Indices{}, std::move(make));
    }
    /// A consumer-producer kernel: `.seeds(s).kernel(make)`. `s(index)` returns the first work unit, or a
    /// std::optional that may be empty. Other calls may come between the two:
    /// `.seeds(s).reads(d).share_units().kernel(make)`. Seeds that read domains are made for each task, as
    /// kernels are: `.seeds([=](Task& task) { return Seeds{task.read(d)}; })`.
    template <class Seeds>
    [[nodiscard]] SeededJob<Seeds> seeds(Seeds seeds);

    /// The kernel in OpenCL C. `bind` adds the arguments in the order of the source's HEADRACE_PARAMETERS.
    Job& opencl(OpenClKernel kernel, std::function<void(Task&, OpenClArguments&)> bind);

    /// A consumer on `technology`'s devices that launches work on the task's native stream: own kernels, a
    /// vendor's library, a parallel algorithm. On these devices it takes precedence over `kernel`.
    Job& host_function(std::string_view technology, std::function<void(Task&, const NativeStream&)> body);

    // What the runtime reads.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] std::uint64_t work_units() const noexcept { return units_.size(); } ///< to be done
    [[nodiscard]] IndexRange units() const noexcept { return units_; }                ///< their indices
    [[nodiscard]] std::uint64_t grain() const noexcept { return grain_; }
    [[nodiscard]] const std::vector<Use>& uses() const noexcept { return uses_; }
    [[nodiscard]] const std::vector<JobNodePtr>& predecessors() const noexcept { return predecessors_; }
    [[nodiscard]] bool is_in_order() const noexcept { return in_order_; }
    [[nodiscard]] bool is_concurrent() const noexcept { return concurrent_; }
    [[nodiscard]] bool shares_units() const noexcept { return shares_units_; }
    [[nodiscard]] const std::vector<std::string>& devices() const noexcept { return wishes_->devices; }
    [[nodiscard]] int priority() const noexcept { return priority_; }
    /// Empty: the policy is the one named `policy_name`, or the runtime's if that is empty too.
    [[nodiscard]] const MakePolicy& own_policy() const noexcept { return wishes_->make_policy; }
    [[nodiscard]] const std::string& policy_name() const noexcept { return wishes_->policy_name; }
    [[nodiscard]] const std::string& kernel_name() const noexcept {
        return wishes_->kernel_name.empty() ? name_ : wishes_->kernel_name;
    }
    [[nodiscard]] const TaskHook& before_tasks() const noexcept { return wishes_->before_tasks; }
    [[nodiscard]] const TaskHook& after_tasks() const noexcept { return wishes_->after_tasks; }
    /// True if the contents of parts of domains move to the devices of tasks.
    [[nodiscard]] bool moves_data() const;
    /// Of all its domains together.
    [[nodiscard]] Bytes bytes() const;
    [[nodiscard]] const EngineOptions& tuning() const noexcept { return wishes_->tuning; }
    /// Null: no kernel for that technology.
    [[nodiscard]] const KernelVariant* variant(std::string_view technology) const;
    /// Drops the variants of all other technologies: a waiting job then takes less memory.
    void keep_variants(const std::set<std::string_view>& technologies);
    /// The size of the next task.
    [[nodiscard]] std::uint64_t split(IndexRange left, std::uint64_t wanted) const;

private:
    template <class>
    friend class SeededJob;

    /// Options that few jobs set. Copies of a job share them; they never change.
    struct Wishes {
        std::vector<std::string> devices;
        MakePolicy make_policy;
        std::string policy_name, kernel_name;
        TaskHook before_tasks, after_tasks;
        std::function<std::uint64_t(IndexRange, std::uint64_t)> split;
        EngineOptions tuning;
    };
    /// The options of a job that sets none.
    static std::shared_ptr<const Wishes> no_wishes();
    template <class Change>
    Job& wish(const Change& change) {
        Wishes wishes = *wishes_;
        change(wishes);
        wishes_ = std::make_shared<const Wishes>(std::move(wishes));
        return *this;
    }

    void use(Slice slice, Access access, const Joining* joining = nullptr);
    void check_units() const;
    template <class T>
    void reduce(const Domain<T>& domain, const Joining& joining) {
        if constexpr (!AtomicValue<T>) expect_fit_for_slots(*domain.data());
        use(Slice(domain), Access::accumulate, &joining);
    }
    void check_sharing(const Use& use) const;
    /// Replaces the variant for that technology, if there is one.
    void set_variant(KernelVariant variant);
    void offer(std::string_view technology, Launcher launcher,
               std::function<std::unique_ptr<BoundKernel>(const Launcher&, Task&)> bind);

    template <class Seeds, class Make>
    Job& generic_kernel(Seeds seeds, Make make) {
        using Kernel = std::remove_cvref_t<std::invoke_result_t<Make&, Task&>>;
        if constexpr (makes_seeds<Seeds>) {
            using Made = std::remove_cvref_t<std::invoke_result_t<const Seeds&, Task&>>;
            if constexpr (check_kernel<Kernel, Made>())
                offer_all<Kernel, Made>(std::move(seeds), std::move(make));
        } else if constexpr (check_kernel<Kernel, Seeds>()) {
            offer_all<Kernel, Seeds>([seeds](Task&) { return seeds; }, std::move(make));
        }
        return *this;
    }
    /// What is called with a task, and not with an index.
    template <class Seeds>
    static constexpr bool makes_seeds =
        !std::is_invocable_v<const Seeds&, std::uint64_t> && std::is_invocable_v<const Seeds&, Task&>;

    /// A value that was made for a task. In zeroed memory, so that padding bytes of equal values are equal
    /// too: KernelImage.
    template <class Value>
    class Zeroed {
    public:
        template <class Make>
        Zeroed(Make& make, Task& task) : value_(new (bytes_.data()) Value(make(task))) {}
        Zeroed(const Zeroed&) = delete; // its pointer is into itself
        Zeroed& operator=(const Zeroed&) = delete;
        [[nodiscard]] const Value* get() const { return value_; }

    private:
        alignas(Value) std::array<std::byte, sizeof(Value)> bytes_{};
        const Value* value_;
    };

    template <class Kernel, class Seeds, class MakeSeeds, class Make>
    void offer_all(MakeSeeds make_seeds, Make make) {
        const auto bind = [make_seeds, make](const Launcher& launcher, Task& task) {
            const Zeroed<Seeds> seeds(make_seeds, task);
            const Zeroed<Kernel> kernel(make, task);
            return launcher.bind(kernel.get(), sizeof(Kernel), seeds.get(), sizeof(Seeds));
        };
        for (const char* technology : technology::of_cpp)
            offer(technology, compiled_for<EngineKernel<Kernel, Seeds>>(technology), bind);
    }

    std::string name_;
    std::uint64_t all_units_;
    IndexRange units_;
    std::uint64_t grain_ = 1;
    std::vector<Use> uses_;
    std::vector<JobNodePtr> predecessors_;
    bool in_order_ = false;
    bool concurrent_ = false;
    bool shares_units_ = false;
    int priority_ = 0;
    std::shared_ptr<const Wishes> wishes_ = no_wishes();
    std::vector<KernelVariant> variants_;
};

/// A job with its seeds, before it has its kernel. Offers the describing calls of Job and passes each on to
/// the job. Borrows the job until `kernel`, which returns it.
template <class Seeds>
class [[nodiscard]] SeededJob {
public:
    SeededJob(Job& job, Seeds seeds) : job_(&job), seeds_(seeds) {}

    template <class Make>
    Job& kernel(Make make) {
        return job_->generic_kernel(seeds_, std::move(make));
    }

    template <class... Slices>
    SeededJob reads(Slices&&... slices) {
        return with(job_->reads(std::forward<Slices>(slices)...));
    }
    template <class... Slices>
    SeededJob writes(Slices&&... slices) {
        return with(job_->writes(std::forward<Slices>(slices)...));
    }
    template <class... Slices>
    SeededJob updates(Slices&&... slices) {
        return with(job_->updates(std::forward<Slices>(slices)...));
    }
    template <class... Domains>
    SeededJob accumulates(const Domains&... domains) {
        return with(job_->accumulates(domains...));
    }
    template <class Op, class... Domains>
    SeededJob reduces(const Domains&... domains) {
        return with(job_->template reduces<Op>(domains...));
    }
    template <class... Domains>
    SeededJob appends(const Domains&... domains) {
        return with(job_->appends(domains...));
    }
    template <class... Domains>
    SeededJob scatters(const Domains&... domains) {
        return with(job_->scatters(domains...));
    }
    SeededJob after(const JobHandle& other) { return with(job_->after(other)); }
    SeededJob in_order() { return with(job_->in_order()); }
    SeededJob concurrent() { return with(job_->concurrent()); }
    SeededJob only_on(std::vector<std::string> devices) { return with(job_->only_on(std::move(devices))); }
    SeededJob priority(int priority) { return with(job_->priority(priority)); }
    SeededJob policy(MakePolicy make, std::string name) {
        return with(job_->policy(std::move(make), std::move(name)));
    }
    SeededJob policy(std::string name) { return with(job_->policy(std::move(name))); }
    SeededJob kernel_name(std::string name) { return with(job_->kernel_name(std::move(name))); }
    SeededJob on_tasks(TaskHook before, TaskHook after) {
        return with(job_->on_tasks(std::move(before), std::move(after)));
    }
    SeededJob grain(std::uint64_t work_units) { return with(job_->grain(work_units)); }
    SeededJob only_units(IndexRange units) { return with(job_->only_units(units)); }
    SeededJob split_by(std::function<std::uint64_t(IndexRange left, std::uint64_t wanted)> callback) {
        return with(job_->split_by(std::move(callback)));
    }
    SeededJob share_units() { return with(job_->share_units()); }
    SeededJob tune(EngineOptions options) { return with(job_->tune(std::move(options))); }
    SeededJob opencl(OpenClKernel kernel, std::function<void(Task&, OpenClArguments&)> bind) {
        return with(job_->opencl(std::move(kernel), std::move(bind)));
    }
    SeededJob host_function(std::string_view technology,
                            std::function<void(Task&, const NativeStream&)> body) {
        return with(job_->host_function(technology, std::move(body)));
    }

private:
    SeededJob with(Job& /*described*/) const { return *this; }

    Job* job_;
    Seeds seeds_;
};

template <class Seeds>
SeededJob<Seeds> Job::seeds(Seeds seeds) {
    return SeededJob<Seeds>(*this, seeds);
}

} // namespace headrace
