// domains/task.hpp - the block of a job that one device gets, and the views its kernel is bound to.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/domains/domain.hpp>

#include <span>
#include <string>

namespace headrace {

/// Handed to the functions that bind kernels. Lives until the task has ended.
///
/// Errors    every accessor throws invalid_argument if the job did not declare that access to that domain
/// Threads   one at a time
class Task {
public:
    /// One declared access, resolved on this device.
    struct Binding {
        const DomainData* data;
        Access access;
        Memory* memory;
    };

    Task(std::string name, IndexRange range, const Device& device)
        : name_(std::move(name)), range_(range), device_(&device) {}
    void bind(Binding binding) { bindings_.push_back(binding); }

    [[nodiscard]] const std::string& name() const noexcept { return name_; } ///< "path tracing [0, 4096)"
    /// Seeds at its end may yet go to another device. All of the job's, for units that others gave.
    [[nodiscard]] IndexRange range() const noexcept { return range_; }
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
        return {static_cast<T*>(memory(*domain.data(), {Access::accumulate}).address()), domain.extent()};
    }
    /// Whatever access was declared: for OpenCL kernels, which take the driver's handle.
    template <class T>
    [[nodiscard]] const Memory& memory(const Domain<T>& domain) const {
        return memory(*domain.data(), {});
    }

private:
    template <class T>
    View<T> view(const Domain<std::remove_const_t<T>>& domain, std::initializer_list<Access> allowed) const {
        return {static_cast<T*>(memory(*domain.data(), allowed).address()), domain.extent()};
    }
    const Memory& memory(const DomainData& data, std::initializer_list<Access> allowed) const;

    std::string name_;
    IndexRange range_;
    const Device* device_;
    std::vector<Binding> bindings_;
};

} // namespace headrace
