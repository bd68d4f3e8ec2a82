// domains/task.hpp - the work range of a job that one device gets, and the views for its kernel.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/domains/append.hpp>
#include <headrace/domains/detail/exact_summation.hpp>
#include <headrace/domains/detail/reducing.hpp>
#include <headrace/domains/domain.hpp>

#include <span>
#include <string>

namespace headrace {

/// Argument of the functions that bind kernels. Lives until the task has ended.
///
/// Errors    every accessor throws invalid_argument if the job did not declare that access to that domain
/// Threads   one at a time
class HEADRACE_EXPORT Task {
public:
    /// One declared access, with the memory on this device.
    struct Binding {
        const DomainData* data;
        Access access;
        const Joining* joining; ///< null: the memory is no private replica
        Memory* memory;
        Bytes begin;                              ///< offset of the memory's first byte in the domain
        IndexRange part = {0, ~std::uint64_t{0}}; ///< elements that the task may touch
    };

    Task(std::string name, IndexRange range, const Device& device)
        : name_(std::move(name)), range_(range), device_(&device) {}
    void bind(Binding binding) { bindings_.push_back(binding); }
    /// True if no call asked for the range: what was bound for this task also fits other tasks of its device.
    [[nodiscard]] bool hides_range() const noexcept { return !tells_range_; }
    void unbind() { bindings_.clear(); }
    [[nodiscard]] const Binding& bound(const DomainData& data) const;
    /// Views use this memory from now on.
    void rebind(const DomainData& data, Memory& memory, Bytes begin);

    [[nodiscard]] const std::string& name() const noexcept { return name_; } ///< "path tracing [0, 4096)"
    /// Seeds at its end may still move to another device. For units of other devices: the job's range.
    [[nodiscard]] IndexRange range() const noexcept {
        tells_range_ = true;
        return range_;
    }
    [[nodiscard]] const Device& device() const noexcept { return *device_; }

    template <class T>
    [[nodiscard]] View<const T> read(const Domain<T>& domain) const {
        return view<const T>(domain, {Access::read, Access::update});
    }
    template <class T>
    [[nodiscard]] View<T> write(const Domain<T>& domain) const {
        return view<T>(domain, {Access::write});
    }
    template <class T>
    [[nodiscard]] View<T> update(const Domain<T>& domain) const {
        return view<T>(domain, {Access::update});
    }
    template <class T>
    [[nodiscard]] Sum<T> sum(const Domain<T>& domain) const {
        return bounded(
            SumsOf<T>::view(replica(*domain.data(), SumsOf<T>::joining()), domain.extent(), device_->info()),
            *domain.data());
    }
    /// By the operation that the job declares: `t.reduce<Min>(domain)`.
    template <class Op, class T>
    [[nodiscard]] auto reduce(const Domain<T>& domain) const {
        static_assert(Reducible<T, Op>, HEADRACE_NOT_REDUCIBLE);
        if constexpr (Reducible<T, Op>) {
            void* const origin = replica(*domain.data(), joins_reductions<T, Op>());
            if constexpr (AtomicValue<T>) {
                Reduction<T, Op> reduction{static_cast<T*>(origin), domain.extent()};
                if constexpr (changes_often<Op>)
                    reduction.slots = lane_slots(device_->info(), domain.size() * sizeof(T));
                return bounded(reduction, *domain.data());
            } else {
                const SlotLayout layout =
                    slot_layout(device_->info(), domain.size(), sizeof(detail::SlotPlace<T>));
                return bounded(
                    Reduction<T, Op>{{static_cast<std::byte*>(origin), layout.slots, layout.slot_bytes},
                                     domain.extent()},
                    *domain.data());
            }
        }
    }
    template <class T>
    [[nodiscard]] Scatter<T> scatter(const Domain<T>& domain) const {
        return bounded(
            Scatter<T>{static_cast<T*>(replica(*domain.data(), joins_scattered())), domain.extent()},
            *domain.data());
    }
    template <class T>
    [[nodiscard]] Append<T> append(const Domain<T>& domain) const {
        auto* const bytes = static_cast<std::byte*>(replica(*domain.data(), joins_appended()));
        if (!bytes) return {nullptr, domain.size(), nullptr}; // kernels take the memory's handle
        return {reinterpret_cast<T*>(bytes), domain.size(),
                reinterpret_cast<std::uint64_t*>(bytes + detail::counter_offset(domain.data()->bytes()))};
    }
    /// Number of records that earlier jobs appended to a domain which this job reads or updates.
    template <class T>
    [[nodiscard]] std::uint64_t count(const Domain<T>& domain) const {
        static_cast<void>(
            origin(*domain.data(), {Access::read, Access::update})); // throws if the job does neither
        return domain.data()->records();
    }
    /// The memory, for any access: OpenCL kernels take the driver's handle. It begins with the domain in
    /// OpenCL. Elsewhere, if the job is larger than the device, it begins near the task's part: use views.
    template <class T>
    [[nodiscard]] const Memory& memory(const Domain<T>& domain) const {
        return *bound(*domain.data()).memory;
    }

private:
    template <class T>
    View<T> view(const Domain<std::remove_const_t<T>>& domain, std::initializer_list<Access> allowed) const {
        return bounded(View<T>{static_cast<T*>(origin(*domain.data(), allowed)), domain.extent()},
                       *domain.data());
    }
    /// Adds the range that the task may touch, if views check it (bounds.hpp).
    template <class V>
    V bounded(V view, [[maybe_unused]] const DomainData& data) const {
#if defined(HEADRACE_CHECK_BOUNDS)
        const Binding& binding = bound(data);
        view.bounds = {data.name().c_str(), binding.part.begin, binding.part.end};
        if (!binding.joining) tells_range_ = true; // tasks with other parts need other views
#endif
        return view;
    }
    /// The address of the domain's first element, which may lie outside the memory.
    void* origin(const DomainData& data, std::initializer_list<Access> allowed) const;
    /// The private replica of this device, which is joined by `joining`.
    void* replica(const DomainData& data, const Joining& joining) const;
    [[noreturn]] void fail_undeclared(const DomainData& data, const std::string& asked,
                                      const std::string& mending) const;

    std::string name_;
    IndexRange range_;
    mutable bool tells_range_ = false; // one thread at a time uses a task
    const Device* device_;
    std::vector<Binding> bindings_;
};

} // namespace headrace
