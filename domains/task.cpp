// domains/task.cpp - see task.hpp.
#include <headrace/domains/task.hpp>

#include <algorithm>
#include <cstdint>

namespace headrace {
namespace {

/// As a job says it.
std::string_view declaration_of(Access access) {
    switch (access) {
    case Access::read:
        return "reads()";
    case Access::write:
        return "writes()";
    case Access::update:
        return "updates()";
    case Access::accumulate:
        return "accumulates()";
    }
    return "unknown";
}

/// As a task says it.
std::string call_for(Access access) {
    return access == Access::accumulate ? "sum()" : std::string(to_string(access)) + "()";
}

} // namespace

const Task::Binding& Task::binding(const DomainData& data, std::initializer_list<Access> allowed) const {
    for (const Binding& binding : bindings_)
        if (binding.data == &data &&
            (allowed.size() == 0 || std::ranges::find(allowed, binding.access) != allowed.end()))
            return binding;
    throw Error{ErrorKind::invalid_argument, undeclared(data, allowed)}.in_task(name_);
}

/// What was asked for, and what the job declares.
std::string Task::undeclared(const DomainData& data, std::initializer_list<Access> allowed) const {
    const std::string domain = "the domain '" + data.name() + "'";
    std::string declared;
    for (const Binding& binding : bindings_)
        if (binding.data == &data)
            declared += (declared.empty() ? "" : " and ") + std::string(declaration_of(binding.access));
    if (declared.empty()) declared = "nothing";
    if (allowed.size() == 0)
        return "the kernel asks for the memory of " + domain + ", of which its job declares " + declared;
    std::string mending;
    for (const Access access : allowed)
        mending += (mending.empty() ? "" : " or ") + std::string(declaration_of(access));
    return "the kernel asks for " + (call_for(*allowed.begin())) + " of " + domain +
           ", of which its job declares " + declared + "; " + mending + " would allow it";
}

void* Task::origin(const DomainData& data, std::initializer_list<Access> allowed) const {
    const Binding& bound = binding(data, allowed);
    // As a number: what lies before a window is no memory of ours to point to.
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(bound.memory->address()) - bound.begin);
}

} // namespace headrace
