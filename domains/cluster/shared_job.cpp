// domains/cluster/shared_job.cpp - see shared_job.hpp.
#include "cluster/domain_join.hpp"
#include "execution/footprint.hpp"
#include <headrace/internal/domains/cluster/node.hpp>
#include <headrace/internal/domains/cluster/shared_job.hpp>
#include <headrace/internal/domains/job_execution.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace headrace::cluster {
namespace {

/// A job of the runtime, for its rank's communication.
class ExecutionWork final : public LocalWork {
public:
    explicit ExecutionWork(std::shared_ptr<JobExecution> job) : job_(std::move(job)) {}

    [[nodiscard]] Supply supply() const override { return job_->supply(); }
    void extend(IndexRange units) override { job_->extend(units); }
    void close() override { job_->close(); }
    void stop(ErrorPtr why) override { job_->stop(std::move(why)); }
    [[nodiscard]] std::optional<WorkRange> next(int rank, bool lacks_units) override {
        const std::size_t device = device_of_rank(rank);
        std::optional<WorkRange> work;
        if (const auto units = job_->next(device)) work.emplace(*units);
        if (!work && lacks_units) {
            work = job_->transfers().next_transferred(device);
            if (!work) job_->note_idle(device);
        }
        if (work) job_->launched(device, *work, work->range.size());
        return work;
    }
    void note_takes_units(int rank) override { job_->transfers().note_takes_units(device_of_rank(rank)); }
    void note_speed(int rank, double units_per_second) override {
        job_->transfers().note_speed(device_of_rank(rank), units_per_second);
    }
    void receive(std::optional<int> rank, UnitBatch units) override {
        job_->transfers().receive(rank ? std::optional(device_of_rank(*rank)) : std::nullopt,
                                  std::move(units));
    }
    void note_above(bool wants) override { job_->transfers().note_above(wants); }
    [[nodiscard]] std::shared_ptr<const UnitBatch> next_for_above() override {
        return job_->transfers().take_for_above();
    }
    void completed(int rank, const std::vector<WorkRange>& works, std::optional<Part> next,
                   Clock::time_point begin, Clock::time_point end) override {
        std::optional<JobExecution::Begun> part;
        if (next) part = {WorkRange(next->grant, 1), next->units};
        job_->finished(device_of_rank(rank), works, {.launches = {{begin, end}}, .engine = {}}, part);
    }
    void abandoned(int rank, const WorkRange& work) override {
        job_->abandoned(device_of_rank(rank), work, nullptr);
    }

private:
    std::shared_ptr<JobExecution> job_;
};

JobMark mark_of(const Job& job) {
    const std::uint64_t first = job.units().begin;
    return {first == 0 ? job.name() : job.name() + " from unit " + std::to_string(first), job.work_units()};
}

} // namespace

SharedJob::SharedJob(std::shared_ptr<Node> node, CallNumber number)
    : node_(std::move(node)), number_(number) {}

bool SharedJob::work_comes_later() const { return node_->rank() != 0; }

void SharedJob::begin(const std::shared_ptr<JobExecution>& execution) const {
    const Job& job = execution->job();
    try {
        node_->begin(number_, std::make_shared<ExecutionWork>(execution), mark_of(job));
    } catch (...) { // the ranks work together no more
        execution->stop(current_error(ErrorKind::device));
    }
}

void SharedJob::spread(const Job& job, std::span<const IndexRange> units, ErrorPtr error) const {
    std::uint64_t use_number = 0;
    for (const Job::Use& use : job.uses()) {
        const auto join = std::make_shared<DomainJoin>(node_, JoinNumber{number_, use_number++});
        if (use.joining) {
            use.slice.data->pending().join_over(join);
        } else if (writes(use.access)) {
            std::vector<IndexRange> written;
            try {
                if (!error)
                    for (const IndexRange range : units) written.push_back(elements_of(use, range));
            } catch (...) { // the user's callback
                error = current_error();
            }
            std::erase_if(written, [](const IndexRange& elements) { return elements.empty(); });
            use.slice.data->pending().exchange_over(join, std::move(written), error);
        }
    }
}

bool is_shared_by_ranks(const Job& job) {
    bool has_results = false;
    for (const Job::Use& use : job.uses()) {
        if (use.joining) {
            has_results = true;
        } else if (writes(use.access)) {
            if (!use.slice.part || job.is_concurrent()) return false;
            has_results = true;
        }
    }
    return has_results && job.work_units() > 0 && job.devices().empty();
}

} // namespace headrace::cluster
