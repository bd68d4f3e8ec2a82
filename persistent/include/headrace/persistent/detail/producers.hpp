// persistent/detail/producers.hpp - which loop a kernel that spawns has.
#pragma once
#include <headrace/persistent/detail/inbox_group.hpp>
#include <headrace/persistent/detail/producer_group.hpp>
#include <headrace/persistent/detail/resumable_group.hpp>

namespace headrace {

template <class Sync, class Lanes, class Kernel, class Seeds>
struct ProducerFor {
    using Traits = KindTraits<typename Kernel::Units>;
    using type =
        std::conditional_t<Traits::gathers, InboxGroup<Sync, Lanes, Kernel, Seeds>,
                           std::conditional_t<Traits::resumes, ResumableGroup<Sync, Lanes, Kernel, Seeds>,
                                              ProducerGroup<Sync, Lanes, Kernel, Seeds>>>;
};

/// Runs a lane group of `kernel` until no unit is left anywhere, or all groups pause.
template <class Group, class Kernel>
HEADRACE_GROUP_LOOP void run_lane_group(Group& group, const Kernel& kernel) {
    if constexpr (requires { group.run(kernel); })
        group.run(kernel);
    else
        group.run();
}

} // namespace headrace
