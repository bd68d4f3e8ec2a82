// domains/grids/host_task.hpp - host work on typed arrays, ordered by its data like a kernel.
#pragma once
#include <headrace/domains/grids/detail/binding.hpp>

#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace headrace {

namespace detail {

/// The parameters of a callable as a RoleList.
template <class Call>
struct ParametersOfCall;
template <class Class, class Result, class... Parameters>
struct ParametersOfCall<Result (Class::*)(Parameters...)> {
    using type = RoleList<Parameters...>;
};
template <class Class, class Result, class... Parameters>
struct ParametersOfCall<Result (Class::*)(Parameters...) const> {
    using type = RoleList<Parameters...>;
};
template <class Task>
using ParametersOf = typename ParametersOfCall<decltype(&Task::operator())>::type;

inline Event run_on(Controller& controller, std::string_view name, std::span<const TileUse> uses,
                    std::function<void()> task) {
    return controller.host_task(name, uses, std::move(task));
}
inline Event run_on(HostLane& lane, std::string_view name, std::span<const TileUse> uses,
                    std::function<void()> task) {
    return lane.run(name, uses, std::move(task));
}

} // namespace detail

/// True if `task` can be a host task on arrays of these types, as passed (`const Array<float>&`).
template <class Task, class... Arrays>
concept TaskOn = detail::ParametersOf<Task>::template takes<Arrays...>();

/// Runs `task` on `lane`, a Controller's or a HostLane. The parameters of `task` are one role for each of
/// `arrays`: `host_task(gpu, [](In<float> a, Io<float> b) { ... }, a, b)`.
///
/// Does not compile if the parameters do not fit the arrays. An exception of the task fails its event.
template <class Lane, class Task, class... Arrays>
Event host_task(Lane& lane, std::string_view name, Task task, Arrays&&... arrays) {
    static_assert(
        TaskOn<Task, Arrays...>,
        "a host task has one role (In, Out, Io, Write) by value for each array, of its element type, "
        "and none that writes for a const array");
    if constexpr (TaskOn<Task, Arrays...>) {
        const detail::Uses uses = detail::ParametersOf<Task>::uses(arrays...);
        // Stores the bound data, not the arguments: a Part may be gone when the task runs.
        return detail::run_on(
            lane, name, uses,
            [task = std::move(task), bound = std::tuple(detail::bind_on_host(arrays)...)]() mutable {
                std::apply(task, bound);
            });
    }
}
template <class Lane, class Task, class... Arrays>
requires(!std::is_convertible_v<Task, std::string_view>) Event
    host_task(Lane& lane, Task task, Arrays&&... arrays) {
    return host_task(lane, "host task", std::move(task), std::forward<Arrays>(arrays)...);
}

} // namespace headrace
