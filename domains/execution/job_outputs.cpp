// domains/execution/job_outputs.cpp - see job_outputs.hpp.
#include "execution/footprint.hpp"
#include <headrace/internal/domains/job_outputs.hpp>

#include <fmt/format.h>

namespace headrace {
namespace {

/// What the whole job was to write of a domain; all of it, if the user's callback does not tell.
IndexRange elements_of_job(const Job::Use& use, const Job& job) {
    // Not a variable that the call is assigned to: where the call throws, GCC 12 has overwritten it.
    try {
        return elements_of(use, job.units());
    } catch (...) { // perhaps the reason why the job failed
        return {0, use.slice.data->extent().size()};
    }
}

} // namespace

JobOutputs::JobOutputs(const Job& job) : job_(job) {
    for (const Job::Use& use : job.uses()) // rows of different tasks cannot overlap
        if (writes(use.access) && use.slice.part && !use.slice.is_rows) written_.try_emplace(&use);
}

std::optional<Error> JobOutputs::enter(IndexRange units) {
    for (auto& [use, parts] : written_) {
        const IndexRange elements = elements_of(*use, units);
        const auto other = parts.enter(units, elements);
        if (!other) continue;
        const IndexRange theirs = elements_of(*use, *other);
        return Error(
            ErrorKind::invalid_argument,
            fmt::format("the tasks of work units [{}, {}) and [{}, {}) write parts of domain '{}' "
                        "that overlap: elements [{}, {}) and [{}, {}); of a domain under writes() or "
                        "updates(), each element is for one task to write",
                        other->begin, other->end, units.begin, units.end, use->slice.data->name(),
                        theirs.begin, theirs.end, elements.begin, elements.end));
    }
    return std::nullopt;
}

void JobOutputs::leave(IndexRange units) {
    for (auto& [use, parts] : written_) parts.remove(units);
}

void JobOutputs::complete() const {
    for (const Job::Use& use : job_.uses()) {
        if (use.joining) use.slice.data->seal(*use.joining);
        if (use.access == Access::write) use.slice.data->set_written();
    }
}

void JobOutputs::fail(const ErrorPtr& error) const {
    for (const Job::Use& use : job_.uses()) {
        if (use.joining) {
            use.slice.data->fail_replicas(*use.joining, error);
            continue;
        }
        if (writes(use.access)) use.slice.data->fail(elements_of_job(use, job_), error);
    }
}

} // namespace headrace
