// domains/execution/task.cpp - see task.hpp.
#include <headrace/domains/task.hpp>

#include <algorithm>
#include <cstdint>

namespace headrace {
namespace {

/// As a job says it.
std::string declaration_of(Access access) { return std::string(to_string(access)) + "s()"; }

} // namespace

namespace {

/// Where the domain's first element is or would be.
void* begin_of(const Task::Binding& bound) {
    // As a number: what lies before a window is no memory of ours to point to.
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(bound.memory->address()) - bound.begin);
}

} // namespace

void* Task::origin(const DomainData& data, std::initializer_list<Access> allowed) const {
    for (const Binding& bound : bindings_) {
        if (bound.data != &data || bound.joining || std::ranges::find(allowed, bound.access) == allowed.end())
            continue;
        return begin_of(bound);
    }
    std::string mending;
    for (const Access access : allowed) mending += (mending.empty() ? "" : " or ") + declaration_of(access);
    fail_undeclared(data, std::string(to_string(*allowed.begin())) + "()", mending);
}

void* Task::replica(const DomainData& data, const Joining& joining) const {
    for (const Binding& bound : bindings_)
        if (bound.data == &data && bound.joining == &joining) return begin_of(bound);
    fail_undeclared(data, std::string(joining.view()) + "()", std::string(joining.declaration()) + "()");
}

const Task::Binding& Task::bound(const DomainData& data) const {
    for (const Binding& bound : bindings_)
        if (bound.data == &data) return bound;
    fail_undeclared(data, "the memory", "");
}

void Task::rebind(const DomainData& data, Memory& memory, Bytes begin) {
    for (Binding& bound : bindings_)
        if (bound.data == &data) {
            bound.memory = &memory;
            bound.begin = begin;
        }
}

/// With what was asked for, and what the job declares.
void Task::fail_undeclared(const DomainData& data, const std::string& asked,
                           const std::string& mending) const {
    std::string declared;
    for (const Binding& bound : bindings_)
        if (bound.data == &data)
            declared += (declared.empty() ? "" : " and ") +
                        (bound.joining ? std::string(bound.joining->declaration()) + "()"
                                       : declaration_of(bound.access));
    throw Error{ErrorKind::invalid_argument, "the kernel asks for " + asked + " of the domain '" +
                                                 data.name() + "', of which its job declares " +
                                                 (declared.empty() ? "nothing" : declared) +
                                                 (mending.empty() ? "" : "; " + mending + " would allow it")}
        .in_task(name_);
}

} // namespace headrace
