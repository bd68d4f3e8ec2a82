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
#include <map>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace headrace {

class JobHandle;
template <class Seeds>
class SeededJob;

/// How one technology runs a job: a kernel for the engine, or a host function that does what it likes.
struct KernelVariant {
    std::function<std::unique_ptr<BoundKernel>(Task&)> bind;
    std::function<void(Task&, const NativeStream&)> host_function; ///< used where `bind` is empty
};

/// What a job's hooks are told of tasks that begin or have ended together, as those of one launch do.
struct TaskStatistics {
    std::string_view device;            ///< its id
    std::span<const IndexRange> ranges; ///< of work units; empty for units that another device gave
    double seconds = 0;                 ///< that the device was at work with them; 0 when they begin
    double units_per_second = 0;        ///< in that time
    std::uint64_t bytes_in = 0, bytes_out = 0;
};
using TaskHook = std::function<void(const TaskStatistics&)>;

/// A description; nothing happens until Runtime::submit. Copies are cheap. The calls return the job itself,
/// to be chained.
///
/// An access says how units use a domain x. It means the same however many devices take part:
///
/// access        | units                               | several devices            | view, in a task t
/// reads         | read what is there                  | an image each              | t.read(x)
/// writes        | write their rows, or part           | each its tasks' part       | t.write(x)
///  of whole x   | write any element                   | one memory does it all     | t.write(x)
/// updates       | read and write, as writes does      | as writes does             | t.update(x)
/// scatters      | write any element, each one once    | replicas, from the image   | t.scatter(x)
/// accumulates   | add to any element, at any time     | replicas, from zero        | t.sum(x)
///  of ExactSum  | the same; rounded once              | planes of words, from zero | t.sum(x).add(i, 3.0)
/// reduces<Op>   | combine with any element by Op      | replicas, from identities  | t.reduce<Op>(x)
/// appends       | add records, of any number          | replicas, from no records  | t.append(x)
///
/// Elements that a job under writes() leaves unwritten are unspecified, on every device. Parts of two tasks
/// that overlap under writes() or updates() fail the job, which names both tasks.
///
/// A replica takes as much of each device's memory as the domain; planes take 320 bytes for each sum of
/// doubles, 56 for floats, 16 if a range is declared. To begin one moves nothing, but for scatters(), which
/// brings what is there. To join them brings each to the host: whole; of appended records those that there
/// are; of plain sums one slice from each of the devices that reach each other. That happens once for all the
/// jobs in a row that use the domain in one way (of reductions: by one operation): they run beside each
/// other. Before the domain is used in another way, or asked for, replicas are joined.
///
/// Threads: one at a time. Errors: invalid_argument for a contradiction, at the call that makes it.
class HEADRACE_EXPORT Job {
public:
    struct Use {
        Slice slice;
        Access access;
        const Joining* joining = nullptr; ///< of replicas that devices write each for itself; null: none

        /// All of the domain is written by any task: all tasks work on one image.
        [[nodiscard]] bool is_of_one_image() const {
            return headrace::writes(access) && !slice.part && !joining;
        }
    };

    /// `work_units`: indices 0 to work_units - 1; what a consumer kernel is called with, or what seeds
    /// expand. A job of none ends as soon as those that it comes after have.
    Job(std::string name, std::uint64_t work_units);

    /// Each of `slices` is a domain (every task needs all of it) or `rows(domain)` or `part(domain,
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
    /// Any unit combines values into any element, by Op: Min, Max, BitAnd, BitOr, BitXor or a struct of one's
    /// own (reduction.hpp). What was there takes part; it is Op's identity if nothing was. Kernels get
    /// `t.reduce<Op>(domain)`: views have the operation in their type. A domain whose elements have other
    /// sizes than 1, 2, 4 and 8 bytes may have 4096 bytes at most.
    template <class Op, class... Domains>
    Job& reduces(const Domains&... domains) {
        constexpr bool fits = (Reducible<typename Domains::Element, Op> && ...);
        static_assert(fits, HEADRACE_NOT_REDUCIBLE);
        if constexpr (fits) (reduce(domains, joins_reductions<typename Domains::Element, Op>()), ...);
        return *this;
    }
    /// Any unit writes any element of these, each element is written by at most one. What no unit writes
    /// stays as it is; it is zero if nothing was ever written there. Every device writes to a replica of its
    /// own. Afterwards whole elements are compared with what was there, and what differs is taken up: to
    /// write what was there is to write nothing. Where two devices wrote an element differently, whoever asks
    /// for the result is told; in checked mode, where a task that wrote what was there counts, the job fails.
    template <class... Domains>
    Job& scatters(const Domains&... domains) {
        (use(Slice(domains), Access::accumulate, &joins_scattered()), ...);
        return *this;
    }

    /// Any unit adds records to these, as many as it likes: to what jobs have appended before, behind each
    /// other in any order. A domain's size is the most that it holds. If all devices together append more,
    /// whoever asks for the domain is told (Domain::gather, Domain::count, a job that reads it).
    template <class... Domains>
    Job& appends(const Domains&... domains) {
        (use(Slice(domains), Access::accumulate, &joins_appended()), ...);
        return *this;
    }

    /// This job starts when `other` has ended; it fails if `other` did.
    Job& after(const JobHandle& other);
    /// This job fails if an unfinished one fails whose accesses conflict with its own and that was submitted
    /// before. (Unasked, it waits for such jobs, and fails only where it reads what one of them was to
    /// write.)
    Job& in_order();
    /// This job conflicts with no other, although both use a domain: it waits for no earlier job, and later
    /// ones do not wait for it. Jobs that use disjoint parts of one domain need it to run at one time, and it
    /// is for the caller to know that they are disjoint. Sums and other replicas that are joined afterwards
    /// are kept in order all the same.
    Job& concurrent();
    /// Devices with other ids take no part; empty: all may.
    Job& only_on(std::vector<std::string> devices);
    /// Of jobs that have work to give out, a device takes from one of the highest priority; 0 unless said
    /// otherwise. What runs makes way at its next pause. Jobs of one priority get equal time.
    Job& priority(int priority);
    /// Instead of the runtime's policy; `make` is called once for each submission. Or one of make_policy's.
    Job& policy(MakePolicy make, std::string name);
    Job& policy(std::string name);
    /// By what measurements are kept, and by which launches are as long as those of earlier jobs were; unless
    /// said otherwise, by the job's name. Jobs whose work units take different time should not share one.
    Job& kernel_name(std::string name);
    /// Called by the device's thread, `before` the tasks are begun with and `after` they have ended: it
    /// feeds no device meanwhile, and must not gather what the job writes. What they throw fails the job.
    Job& on_tasks(TaskHook before, TaskHook after);
    /// Tasks are cut at multiples of `work_units`.
    Job& grain(std::uint64_t work_units);
    /// The partitioning callback of the index space: how many of the units left go into a task for which the
    /// policy wants `wanted`. The default is `wanted`, rounded up to the grain.
    Job& split_by(std::function<std::uint64_t(IndexRange left, std::uint64_t wanted)> callback);
    /// A work unit means the same on every device, whichever task it sprang from: it holds indices and
    /// numbers, of the same words in OpenCL C, and its kernel needs nothing of its task's range. Devices that
    /// have nothing to do then get units from others. Only for jobs that read whole domains, and write to
    /// none but by accumulates, reduces, scatters or appends (invalid_argument): a task's part of a domain
    /// stays where the task is.
    Job& share_units();
    /// Queue sizes and thresholds of the persistent engine, where its own choice is not good enough.
    Job& tune(EngineOptions options);

    /// A consumer kernel for CPU, CUDA and HIP from one source. `make(Task&)` returns the kernel struct with
    /// its views.
    template <class Make>
    Job& kernel(Make make) {
        return generic_kernel(Indices{}, std::move(make));
    }
    /// A consumer-producer kernel: `.seeds(s).kernel(make)`; s(index) is the first work unit, or a
    /// std::optional that may have none. Other calls may stand between the two:
    /// `.seeds(s).reads(d).share_units().kernel(make)`.
    template <class Seeds>
    [[nodiscard]] SeededJob<Seeds> seeds(Seeds seeds);

    /// The kernel in OpenCL C; `bind` gives the arguments in the order of the source's HEADRACE_PARAMETERS.
    Job& opencl(OpenClKernel kernel, std::function<void(Task&, OpenClArguments&)> bind);

    /// A consumer on `technology`'s devices that launches what it likes on the task's native stream: own
    /// kernels, a vendor's library, a parallel algorithm. Takes precedence over `kernel` there.
    Job& host_function(std::string_view technology, std::function<void(Task&, const NativeStream&)> body);

    // What the runtime reads.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] std::uint64_t work_units() const noexcept { return work_units_; }
    [[nodiscard]] std::uint64_t grain() const noexcept { return grain_; }
    [[nodiscard]] const std::vector<Use>& uses() const noexcept { return uses_; }
    [[nodiscard]] const std::vector<JobNodePtr>& predecessors() const noexcept { return predecessors_; }
    [[nodiscard]] bool is_in_order() const noexcept { return in_order_; }
    [[nodiscard]] bool is_concurrent() const noexcept { return concurrent_; }
    [[nodiscard]] bool shares_units() const noexcept { return shares_units_; }
    [[nodiscard]] const std::vector<std::string>& devices() const noexcept { return wishes_->devices; }
    [[nodiscard]] int priority() const noexcept { return priority_; }
    /// Empty: the policy has `policy_name`, or is the runtime's where that is empty, too.
    [[nodiscard]] const MakePolicy& own_policy() const noexcept { return wishes_->make_policy; }
    [[nodiscard]] const std::string& policy_name() const noexcept { return wishes_->policy_name; }
    [[nodiscard]] const std::string& kernel_name() const noexcept {
        return wishes_->kernel_name.empty() ? name_ : wishes_->kernel_name;
    }
    [[nodiscard]] const TaskHook& before_tasks() const noexcept { return wishes_->before_tasks; }
    [[nodiscard]] const TaskHook& after_tasks() const noexcept { return wishes_->after_tasks; }
    /// Tasks have data of their own that moves to them.
    [[nodiscard]] bool moves_data() const;
    /// Of all its domains.
    [[nodiscard]] Bytes bytes() const;
    [[nodiscard]] const EngineOptions& tuning() const noexcept { return wishes_->tuning; }
    /// Null: no kernel for that technology.
    [[nodiscard]] const KernelVariant* variant(std::string_view technology) const;
    /// The others are given up: a job that waits takes less memory.
    void keep_variants(const std::set<std::string_view>& technologies);
    /// The size of the next task.
    [[nodiscard]] std::uint64_t split(IndexRange left, std::uint64_t wanted) const;

private:
    template <class>
    friend class SeededJob;

    /// What few jobs say. Copies of a job share it; it never changes.
    struct Wishes {
        std::vector<std::string> devices;
        MakePolicy make_policy;
        std::string policy_name, kernel_name;
        TaskHook before_tasks, after_tasks;
        std::function<std::uint64_t(IndexRange, std::uint64_t)> split;
        EngineOptions tuning;
    };
    /// Of a job that says nothing.
    static std::shared_ptr<const Wishes> no_wishes();
    template <class Change>
    Job& wish(const Change& change) {
        Wishes wishes = *wishes_;
        change(wishes);
        wishes_ = std::make_shared<const Wishes>(std::move(wishes));
        return *this;
    }

    void use(Slice slice, Access access, const Joining* joining = nullptr);
    template <class T>
    void reduce(const Domain<T>& domain, const Joining& joining) {
        if constexpr (!AtomicValue<T>) expect_fit_for_slots(*domain.data());
        use(Slice(domain), Access::accumulate, &joining);
    }
    void check_sharing(const Use& use) const;
    void offer(std::string_view technology, Launcher launcher,
               std::function<std::unique_ptr<BoundKernel>(const Launcher&, Task&)> bind);

    template <class Seeds, class Make>
    Job& generic_kernel(Seeds seeds, Make make) {
        using Kernel = std::remove_cvref_t<std::invoke_result_t<Make&, Task&>>;
        if constexpr (check_kernel<Kernel, Seeds>()) offer_all<Kernel>(std::move(seeds), std::move(make));
        return *this;
    }
    template <class Kernel, class Seeds, class Make>
    void offer_all(Seeds seeds, Make make) {
        const auto bind = [seeds, make](const Launcher& launcher, Task& task) {
            // In zeroed memory, so that equal kernels are equal between their members too: KernelImage.
            alignas(Kernel) std::array<std::byte, sizeof(Kernel)> bytes{};
            const Kernel& kernel = *new (bytes.data()) Kernel(make(task));
            return launcher.bind(&kernel, sizeof(Kernel), &seeds, sizeof seeds);
        };
        offer("cpu", launcher<technology::Cpu, Kernel, Seeds>(), bind);
        offer("cuda", launcher<technology::Cuda, Kernel, Seeds>(), bind);
        offer("hip", launcher<technology::Hip, Kernel, Seeds>(), bind);
    }

    std::string name_;
    std::uint64_t work_units_;
    std::uint64_t grain_ = 1;
    std::vector<Use> uses_;
    std::vector<JobNodePtr> predecessors_;
    bool in_order_ = false;
    bool concurrent_ = false;
    bool shares_units_ = false;
    int priority_ = 0;
    std::shared_ptr<const Wishes> wishes_ = no_wishes();
    std::map<std::string, KernelVariant, std::less<>> variants_;
};

/// A job whose seeds are known and whose kernel is still to come. It has the calls of Job that describe, for
/// the rest of the chain: each passes on to the job. Borrows the job until `kernel`, which returns it.
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
