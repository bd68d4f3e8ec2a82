// domains/task.cpp - see task.hpp.
#include <headrace/domains/task.hpp>

#include <algorithm>

namespace headrace {

const Memory& Task::memory(const DomainData& data, std::initializer_list<Access> allowed) const {
    for (const Binding& binding : bindings_)
        if (binding.data == &data &&
            (allowed.size() == 0 || std::ranges::find(allowed, binding.access) != allowed.end()))
            return *binding.memory;
    throw Error{
        ErrorKind::invalid_argument,
        "the kernel uses domain '" + data.name() +
            "' in a way that its job does not declare: add reads(), writes(), updates() or accumulates()"}
        .in_task(name_);
}

} // namespace headrace
