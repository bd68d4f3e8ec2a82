#include "same_names.hpp"
#include "far/names.kernels.hpp"
#include "near/names.kernels.hpp"
#include <headrace/headrace.hpp>

namespace {

/// What all calls of the job's kernel add up to; `describe(job, sum)` says seeds and kernel.
template <class T, class Describe>
T sum_of(headrace::Runtime& runtime, std::uint64_t units, Describe describe) {
    headrace::Domain<T> sum("sum", {1});
    headrace::Job job("sum", units);
    job.accumulates(sum);
    describe(job, sum);
    runtime.submit(job).wait();
    return sum.gather()[0];
}

bool run_grids(const char* devices) {
    const auto there = headrace::select_devices(devices);
    headrace::Controller controller(*there.devices.front());
    headrace::Array<float> all("all", {100});
    for (float& x : all.fill()) x = 1;
    launch<Grid>(controller, headrace::grid(100), all);
    launch<far::Index>(controller, headrace::grid(100), all);
    launch<detail::Shape>(controller, headrace::grid(100), all);
    return all.gather()[99] == 18;
}

} // namespace

bool same_names_are_told_apart() {
    headrace::Runtime runtime({.devices = "cpu"});
    const auto near_steps = sum_of<std::uint64_t>(runtime, 4, [](headrace::Job& job, const auto& sum) {
        job.seeds(Event{}).kernel([&](headrace::Task& t) { return Trace{t.sum(sum)}; });
    });
    const auto far_steps = sum_of<std::uint64_t>(runtime, 4, [](headrace::Job& job, const auto& sum) {
        job.seeds(far::Event{}).kernel([&](headrace::Task& t) { return far::Trace{t.sum(sum)}; });
    });
    const auto calls = sum_of<std::uint32_t>(runtime, 4, [](headrace::Job& job, const auto& sum) {
        job.kernel([&](headrace::Task& t) { return detail::Count{t.sum(sum)}; });
    });
    const auto negative = sum_of<std::int64_t>(runtime, 4, [](headrace::Job& job, const auto& sum) {
        job.kernel([&](headrace::Task& t) { return Policy{t.sum(sum)}; });
    });
    return near_steps == 10 && far_steps == 40 && calls == 4 && negative == -4 && run_grids("cpu");
}
