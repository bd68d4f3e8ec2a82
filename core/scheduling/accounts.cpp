// core/scheduling/accounts.cpp - see accounts.hpp.
#include <headrace/internal/core/accounts.hpp>

namespace headrace {

void Accounts::complete(std::size_t participant, const Work& work) {
    One& one = of_[participant];
    one.completed.add(work);
    one.account.completed += work.work_units();
    if (work.is_transferred) one.account.units_received += work.range.size();
    completed_ += work.work_units();
}

std::vector<Work> Accounts::take_back(std::size_t participant, bool all) {
    std::vector<Work> works;
    for (One& one : of_) {
        if (&one != &of_[participant] && !all) continue;
        for (const Work& work : one.completed.take()) {
            completed_ -= work.work_units();
            works.push_back(work);
        }
        one.account.completed = one.account.units_received = 0;
    }
    return works;
}

void Accounts::forget() noexcept {
    for (One& one : of_) one.completed.forget();
}

void Accounts::tell(StateText& out, std::size_t participant) const {
    const auto& [account, completed] = of_[participant];
    completed.tell(out);
    out << " account " << account.completed << " " << account.seeds_transferred << " "
        << account.units_transferred << " " << account.units_received;
}

} // namespace headrace
