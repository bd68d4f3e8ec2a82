// core/scheduling/waiting_transfers.cpp - see waiting_transfers.hpp.
#include <headrace/internal/core/waiting_transfers.hpp>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

/// Bytes. A job that transfers as much goes on without further transfers of units.
constexpr std::uint64_t most_kept = std::uint64_t{256} << 20;

} // namespace

bool WaitingTransfers::are_none() const {
    return std::ranges::all_of(of_, [](const One& one) { return one.waiting.empty(); });
}

bool WaitingTransfers::may_receive(std::size_t participant) const {
    return of_[participant].is_idle && of_[participant].waiting.empty();
}

Work WaitingTransfers::take(std::size_t participant) {
    std::vector<Work>& waiting = of_[participant].waiting;
    const Work work = waiting.back();
    waiting.pop_back();
    return work;
}

std::vector<Work> WaitingTransfers::take_all(std::size_t participant) {
    return std::exchange(of_[participant].waiting, {});
}

bool WaitingTransfers::note_idle(std::size_t participant, bool is_idle) {
    return std::exchange(of_[participant].is_idle, is_idle);
}

Work WaitingTransfers::number(std::uint64_t units) {
    const std::uint64_t first = numbered_;
    numbered_ += units;
    return {.range = {first, numbered_}, .is_transferred = true};
}

std::uint64_t WaitingTransfers::bytes_left() const noexcept {
    return most_kept - std::min(bytes_, most_kept);
}

void WaitingTransfers::forget() noexcept {
    for (One& one : of_) one.waiting.clear();
}

void WaitingTransfers::tell(StateText& out, std::size_t participant) const {
    for (const Work& work : of_[participant].waiting) out << work;
    out << " idle " << of_[participant].is_idle;
}

} // namespace headrace
