// domains/grids/launch.hpp - kernels over grids on typed arrays: the interface of the controller level. Calls
// that take work return its Event and do not block.
//
//     struct Scale {                                              // the roles are part of the kernel
//         headrace::In<float> in; headrace::Write<float> out; float factor;
//         HEADRACE_KERNEL void operator()(headrace::Index<2> at) const { out[at] = factor * in[at]; }
//     };
//     launch<Scale>(gpu, grid(rows, columns), a, b, 2.0f);        // members in their order
//     host_task(gpu, [](headrace::In<float> b) { save(b.data()); }, b);
#pragma once
#include <headrace/core/controller.hpp>
#include <headrace/domains/grids/array.hpp>
#include <headrace/domains/grids/detail/binding.hpp>
#include <headrace/domains/grids/detail/members.hpp>
#include <headrace/domains/grids/host_task.hpp>
#include <headrace/domains/grids/implementations.hpp>
#include <headrace/domains/grids/transfers.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace headrace {

namespace detail {

/// Represents a member without an argument.
struct AnyMember {
    template <class T>
    operator T() const;
};

template <class Kernel, class... Initialisers>
inline constexpr bool can_be_made_of = requires(Initialisers... initialisers) {
    Kernel{std::forward<Initialisers>(initialisers)...};
};

/// True if there is one argument for each member. A member without one would silently be zero.
template <class Kernel, class... Arguments>
inline constexpr bool fits = can_be_made_of<Kernel, typename Binding<Arguments>::type...> &&
                             !can_be_made_of<Kernel, typename Binding<Arguments>::type..., AnyMember>;

template <class... Members>
RoleList<std::remove_cvref_t<Members>...> roles_of(const std::tuple<Members...>&) {
    return {};
}

} // namespace detail

/// True if `launch<Kernel>` takes a grid of `Rank` dimensions and arguments of these types, as passed (`const
/// Array<float>&`).
template <class Kernel, int Rank, class... Arguments>
concept LaunchableOn = std::is_aggregate_v<Kernel> && std::is_trivially_copyable_v<Kernel> &&
                       (index_rank<Kernel> == 0 || index_rank<Kernel> == Rank) &&
                       detail::fits<Kernel, Arguments...>;

/// Runs `Kernel` over `grid` on the controller's device, with the implementation of `which` that fits the
/// device best. `arguments` are the kernel's members in their order: arrays or parts of them for roles,
/// numbers for the others.
///
/// Does not compile if the arguments do not fit the members, or the grid does not fit the kernel's index.
/// Errors: throws unsupported if no implementation fits the device, and invalid_argument for a grid beyond
/// the 32 bits of its indices; else as Controller::launch
template <class Kernel, int Rank, class... Arguments>
Event launch(Controller& controller, const Implementations<Kernel>& which, const Grid<Rank>& grid,
             Arguments&&... arguments) {
    static_assert(std::is_aggregate_v<Kernel> && std::is_trivially_copyable_v<Kernel>,
                  "a kernel is a plain struct of roles (In, Out, Io, Write) and numbers");
    static_assert(index_rank<Kernel> == 0 || index_rank<Kernel> == Rank,
                  "the grid has another number of dimensions than the kernel's index");
    static_assert(detail::fits<Kernel, Arguments...>,
                  "the arguments do not fit the kernel's members: one each, arrays of the same element type "
                  "for roles, none of them const where the role writes, and numbers that are not narrowed");
    if constexpr (LaunchableOn<Kernel, Rank, Arguments...>) {
        constexpr std::size_t count = sizeof...(Arguments);
        const AnyGrid any(grid);
        any.check();
        auto run = which.choose(controller.device().info());
        const Kernel kernel{detail::bind_on(controller, arguments)...};
        const detail::Uses uses = detail::roles_of(detail::members<count>(kernel)).uses(arguments...);
        return controller.launch(type_name<Kernel>(), uses,
                                 [run = std::move(run), kernel, any](const NativeStream& stream) {
                                     (*run)(kernel, any, &detail::argument_bytes_of<count, Kernel>, stream);
                                 });
    }
}

/// With all of headrace_add_grid_kernels: `launch<Sobel>(gpu, grid(rows, columns), frame, edges)`.
template <class Kernel, int Rank, class... Arguments>
Event launch(Controller& controller, const Grid<Rank>& grid, Arguments&&... arguments) {
    return launch(controller, implementations<Kernel>(), grid, std::forward<Arguments>(arguments)...);
}

} // namespace headrace
