// domains/jobs/job.cpp - see job.hpp.
#include <headrace/domains/job.hpp>
#include <headrace/domains/job_handle.hpp>
#include <headrace/internal/domains/job_execution.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace headrace {
namespace {

constexpr std::uint64_t most_units = std::uint64_t{1} << 63; // engines count the remaining units with a sign

} // namespace

Job::Job(std::string name, std::uint64_t work_units)
    : name_(std::move(name)), all_units_(work_units), units_{0, work_units} {
    if (work_units > most_units)
        throw Error{ErrorKind::invalid_argument,
                    "a job has at most 2^63 work units, not " + std::to_string(work_units)}
            .in_job(name_);
}

std::shared_ptr<const Job::Wishes> Job::no_wishes() {
    static const auto none = std::make_shared<const Wishes>();
    return none;
}

Job& Job::after(const JobHandle& other) {
    predecessors_.push_back(other.execution()->node());
    return *this;
}

Job& Job::in_order() {
    in_order_ = true;
    return *this;
}

Job& Job::concurrent() {
    concurrent_ = true;
    return *this;
}

Job& Job::only_on(std::vector<std::string> devices) {
    return wish([&](Wishes& wishes) { wishes.devices = std::move(devices); });
}

Job& Job::priority(int priority) {
    priority_ = priority;
    return *this;
}

Job& Job::policy(MakePolicy make, std::string name) {
    return wish([&](Wishes& wishes) {
        wishes.make_policy = std::move(make);
        wishes.policy_name = std::move(name);
    });
}

Job& Job::policy(std::string name) {
    static_cast<void>(headrace::make_policy(name)); // throws here if the name is wrong
    return policy({}, std::move(name));
}

Job& Job::kernel_name(std::string name) {
    return wish([&](Wishes& wishes) { wishes.kernel_name = std::move(name); });
}

Job& Job::on_tasks(TaskHook before, TaskHook after) {
    return wish([&](Wishes& wishes) {
        wishes.before_tasks = std::move(before);
        wishes.after_tasks = std::move(after);
    });
}

Job& Job::grain(std::uint64_t work_units) {
    if (work_units == 0) throw Error{ErrorKind::invalid_argument, "a grain of zero work units"}.in_job(name_);
    grain_ = std::lcm(grain_, work_units);
    check_units();
    return *this;
}

Job& Job::only_units(IndexRange units) {
    units_ = units;
    check_units();
    return *this;
}

void Job::check_units() const {
    const auto range = [&] {
        return "units [" + std::to_string(units_.begin) + ", " + std::to_string(units_.end) + ")";
    };
    if (units_.begin > units_.end || units_.end > all_units_)
        throw Error{ErrorKind::invalid_argument,
                    "only_units: " + range() + " are not among its " + std::to_string(all_units_) + " units"}
            .in_job(name_);
    if (units_.begin % grain_ != 0 || (units_.end % grain_ != 0 && units_.end != all_units_))
        throw Error{ErrorKind::invalid_argument, "only_units: " + range() +
                                                     " begin or end inside a grain of " +
                                                     std::to_string(grain_) + " units"}
            .in_job(name_);
}

Job& Job::split_by(std::function<std::uint64_t(IndexRange, std::uint64_t)> callback) {
    return wish([&](Wishes& wishes) { wishes.split = std::move(callback); });
}

Job& Job::share_units() {
    shares_units_ = true;
    for (const Use& use : uses_) check_sharing(use);
    return *this;
}

Job& Job::tune(EngineOptions options) {
    return wish([&](Wishes& wishes) { wishes.tuning = options; });
}

Job& Job::opencl(OpenClKernel kernel, std::function<void(Task&, OpenClArguments&)> bind) {
    set_variant(
        {"opencl", KernelVariant::Bind([kernel = std::move(kernel), bind = std::move(bind)](Task& task) {
             OpenClArguments arguments;
             bind(task, arguments);
             return bind_opencl(kernel, std::move(arguments));
         })});
    return *this;
}

Job& Job::host_function(std::string_view technology, std::function<void(Task&, const NativeStream&)> body) {
    set_variant({std::string(technology), std::move(body)});
    return *this;
}

bool Job::moves_data() const {
    return std::ranges::any_of(uses_, [](const Use& use) {
        return use.slice.part && (use.access == Access::read || use.access == Access::update);
    });
}

Bytes Job::bytes() const {
    Bytes bytes = 0;
    for (const Use& use : uses_) bytes += use.slice.data->storage().bytes();
    return bytes;
}

const KernelVariant* Job::variant(std::string_view technology) const {
    const auto found = std::ranges::find(variants_, technology, &KernelVariant::technology);
    return found == variants_.end() ? nullptr : &*found;
}

void Job::set_variant(KernelVariant variant) {
    const auto found = std::ranges::find(variants_, variant.technology, &KernelVariant::technology);
    if (found == variants_.end())
        variants_.push_back(std::move(variant));
    else
        *found = std::move(variant);
}

void Job::keep_variants(const std::set<std::string_view>& technologies) {
    std::erase_if(variants_,
                  [&](const KernelVariant& one) { return !technologies.contains(one.technology); });
    variants_.shrink_to_fit();
}

std::uint64_t Job::split(IndexRange left, std::uint64_t wanted) const {
    std::uint64_t size = std::clamp<std::uint64_t>(wanted, 1, left.size());
    if (const auto& split = wishes_->split)
        size = std::clamp<std::uint64_t>(split(left, size), 1, left.size());
    // Ranges begin at multiples of the grain, and rounding the size keeps that true. Only the last range may
    // be shorter.
    const std::uint64_t whole_grains = (size + grain_ - 1) / grain_;
    return std::min(whole_grains * grain_, left.size());
}

void Job::use(Slice slice, Access access, const Joining* joining) {
    const std::string& domain = slice.data->name();
    for (const Use& earlier : uses_)
        if (earlier.slice.data == slice.data)
            throw Error{ErrorKind::invalid_argument,
                        "domain '" + domain + "' is declared twice; use updates() to read and write it"}
                .in_job(name_);
    if (slice.is_rows) {
        const std::uint64_t rows = slice.data->extent().n[0];
        if (all_units_ % rows != 0)
            throw Error{ErrorKind::invalid_argument, "rows(" + domain + "): " + std::to_string(all_units_) +
                                                         " work units are no multiple of " +
                                                         std::to_string(rows) + " rows"}
                .in_job(name_);
        if (slice.halo != 0 && access != Access::read)
            throw Error{ErrorKind::invalid_argument, "rows(" + domain + "): a halo can only be read"}.in_job(
                name_);
        const std::uint64_t units_per_row =
            std::max<std::uint64_t>(all_units_ / rows, 1); // 0 units: any value works
        const std::uint64_t row_elements = slice.data->extent().size() / rows;
        grain(units_per_row);
        slice.part = [=, halo = slice.halo](IndexRange units) {
            const std::uint64_t first = units.begin / units_per_row;
            const std::uint64_t last = (units.end + units_per_row - 1) / units_per_row;
            return IndexRange{(first > halo ? first - halo : 0) * row_elements,
                              (halo < rows - last ? last + halo : rows) * row_elements};
        };
    }
    uses_.push_back({std::move(slice), access, joining});
    if (shares_units_) check_sharing(uses_.back());
}

/// A unit that moves to another device finds there all domains that the job reads whole, and the device's
/// private replicas.
void Job::check_sharing(const Use& use) const {
    const bool is_everywhere = use.joining || (use.access == Access::read && !use.slice.part);
    if (is_everywhere) return;
    throw Error{ErrorKind::invalid_argument,
                "units cannot be shared by devices: each task has a part or a replica of domain '" +
                    use.slice.data->name() +
                    "' to itself; share_units() is for jobs that read whole domains, and accumulate, "
                    "reduce, scatter or append"}
        .in_job(name_);
}

void Job::offer(std::string_view technology, Launcher launcher,
                std::function<std::unique_ptr<BoundKernel>(const Launcher&, Task&)> bind) {
    if (!launcher) return;           // this build lacks the technology
    if (variant(technology)) return; // an earlier host_function stays
    variants_.push_back(
        {std::string(technology), KernelVariant::Bind([launcher, bind = std::move(bind)](Task& task) {
             return bind(launcher, task);
         })});
}

} // namespace headrace
