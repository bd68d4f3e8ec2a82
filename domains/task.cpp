// domains/task.cpp - see task.hpp.
#include <headrace/domains/task.hpp>

#include <algorithm>
#include <cstdint>

namespace headrace {

const Task::Binding& Task::binding(const DomainData& data, std::initializer_list<Access> allowed) const {
    for (const Binding& binding : bindings_)
        if (binding.data == &data &&
            (allowed.size() == 0 || std::ranges::find(allowed, binding.access) != allowed.end()))
            return binding;
    throw Error{ErrorKind::invalid_argument,
                "the kernel uses domain '" + data.name() +
                    "' in a way that its job does not declare: add reads(), "
                    "writes(), updates(), scatters(), accumulates(), reduces() or appends()"}
        .in_task(name_);
}

void* Task::replica(const DomainData& data, const Joining& joining) const {
    const Binding& bound = binding(data, {Access::accumulate});
    if (bound.joining == &joining) return bound.memory->address();
    throw Error{ErrorKind::invalid_argument,
                "the kernel uses domain '" + data.name() + "' as " + std::string(joining.declaration()) +
                    "() allows, and its job declares " + std::string(bound.joining->declaration()) + "()"}
        .in_task(name_);
}

void* Task::origin(const DomainData& data, std::initializer_list<Access> allowed) const {
    const Binding& bound = binding(data, allowed);
    // As a number: what lies before a window is no memory of ours to point to.
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(bound.memory->address()) - bound.begin);
}

} // namespace headrace
