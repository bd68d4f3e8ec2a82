// domains/execution/slot_engine.cpp - see slot_engine.hpp.
#include <headrace/internal/domains/slot_engine.hpp>

namespace headrace {
namespace {

constexpr Bytes most_kept = 64 << 20; // of queues that no job uses

} // namespace

Engine& SlotEngine::bind(Device& device, Stream& stream, std::unique_ptr<BoundKernel> kernel) {
    const EngineOptions& tuning = job_->job().tuning();
    if (engine_) {
        engine_->rebind(std::move(kernel));
    } else if (kept_ && kept_tuning_ == tuning) {
        engine_ = std::move(kept_);
        if (kept_kernel_.is_within(2, job_->scheduling().kernel))
            engine_->rebind(std::move(kernel)); // it keeps what was measured
        else
            engine_->renew(std::move(kernel));
    } else {
        kept_.reset(); // before the new one: there may not be memory for both
        engine_ = std::make_unique<Engine>(device, stream, std::move(kernel), tuning);
    }
    return *engine_;
}

void SlotEngine::set_aside() {
    if (engine_ && engine_->queue_memory() <= most_kept) {
        kept_ = std::move(engine_);
        kept_tuning_ = job_->job().tuning();
        kept_kernel_ = job_->scheduling().kernel;
    }
    engine_.reset();
    job_.reset();
}

bool SlotEngine::free_unused(bool slot_is_free) {
    if (!kept_ && (!slot_is_free || !engine_)) return false;
    kept_.reset();
    if (slot_is_free) {
        engine_.reset();
        job_.reset();
    }
    return true;
}

} // namespace headrace
