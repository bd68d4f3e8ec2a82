// domains/execution/task.cpp - see task.hpp.
#include <headrace/domains/task.hpp>

#include <algorithm>
#include <cstdint>

namespace headrace {
namespace {

/// The access as it is written in a job.
std::string declaration_of(Access access) { return std::string(to_string(access)) + "s()"; }

} // namespace

namespace {

/// The address of the domain's first element, which may lie outside the memory.
void* begin_of(const Task::Binding& bound) {
    // Computed as a number: an address before the window is not a valid pointer.
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

/// The message contains the requested access and the declared ones.
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
