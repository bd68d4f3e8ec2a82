// domains/execution/transferred_units.cpp - see transferred_units.hpp.
#include <headrace/internal/domains/transferred_units.hpp>

#include <utility>

namespace headrace {

void TransferredUnits::add(std::span<const Work> batches, UnitBatch units) {
    for (const Work& batch : batches)
        batches_[batch.range.begin] = std::make_shared<const UnitBatch>(units.split(batch.range.size()));
}

void TransferredUnits::divide(const Work& batch, const Schedule::Kept& parts) {
    UnitBatch rest = *at(batch);
    UnitBatch kept = rest.split(parts.kept.range.size());
    batches_[parts.rest.range.begin] = std::make_shared<const UnitBatch>(std::move(rest));
    batches_[parts.kept.range.begin] = std::make_shared<const UnitBatch>(std::move(kept));
    batches_.erase(batch.range.begin); // the two stand for it
}

} // namespace headrace
