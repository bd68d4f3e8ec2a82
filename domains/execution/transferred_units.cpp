// domains/execution/transferred_units.cpp - see transferred_units.hpp.
#include <headrace/internal/domains/transferred_units.hpp>

#include <utility>

namespace headrace {

void TransferredUnits::add(std::span<const Work> batches, UnitBatch units) {
    for (const Work& batch : batches)
        batches_[batch.range.begin] = std::make_shared<const UnitBatch>(units.split(batch.range.size()));
}

std::shared_ptr<const UnitBatch> TransferredUnits::take(const Work& batch) {
    return std::move(batches_.extract(batch.range.begin).mapped());
}

TransferredUnits::Halves TransferredUnits::halves(const Work& batch, std::uint64_t units) const {
    UnitBatch rest = *at(batch);
    UnitBatch kept = rest.split(units);
    return {std::make_shared<const UnitBatch>(std::move(rest)),
            std::make_shared<const UnitBatch>(std::move(kept))};
}

void TransferredUnits::divide(const Work& batch, const Schedule::Kept& parts, Halves halves) {
    batches_[parts.rest.range.begin] = std::move(halves.rest);
    batches_[parts.kept.range.begin] = std::move(halves.kept);
    batches_.erase(batch.range.begin); // the two stand for it
}

} // namespace headrace
