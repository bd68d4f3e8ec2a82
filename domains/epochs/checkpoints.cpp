// domains/epochs/checkpoints.cpp - see checkpoints.hpp.
#include <headrace/core/log.hpp>
#include <headrace/internal/domains/epochs/checkpoints.hpp>

#include <utility>

namespace headrace::epochs {

Checkpoints::Checkpoints(std::filesystem::path file, Clock::duration every, Identity identity,
                         std::function<void(std::uint64_t)> written)
    : file_(std::move(file)), every_(every), identity_(std::move(identity)), written_(std::move(written)) {}

/// After it the thread has ended, and the members are those of the caller.
void Checkpoints::join() {
    if (!thread_.joinable()) return;
    thread_.join();
    if (!failure_) stored_ = writing_->done;
    writing_ = nullptr;
}

void Checkpoints::offer(const SnapshotPtr& snapshot) {
    // acquire: pairs with the release of the thread, which has written `failure_`.
    if (!are_wanted() || Clock::now() - last_ < every_ || !has_ended_.load(std::memory_order_acquire)) return;
    join();
    if (stored_ == snapshot->done) return;
    last_ = Clock::now();
    writing_ = snapshot;
    failure_ = nullptr;
    has_ended_.store(false, std::memory_order_relaxed); // the thread begins after it
    thread_ = std::jthread([this] {
        try {
            write_checkpoint(file_, identity_, *writing_);
            if (written_) written_(writing_->done);
        } catch (...) {
            failure_ = current_error(ErrorKind::io);
            log_error(std::string(failure_->what()) + "; the run goes on, and tries again later");
        }
        has_ended_.store(true, std::memory_order_release); // pairs with the acquire in offer
    });
}

void Checkpoints::write(const SnapshotPtr& snapshot) {
    join();
    if (!are_wanted() || stored_ == snapshot->done || failed_ == snapshot->done) return;
    failed_ = snapshot->done;
    write_checkpoint(file_, identity_, *snapshot);
    failed_.reset();
    stored_ = snapshot->done;
    last_ = Clock::now();
    if (written_) written_(snapshot->done);
}

} // namespace headrace::epochs
