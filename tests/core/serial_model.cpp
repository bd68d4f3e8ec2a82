// tests/core/serial_model.cpp - see serial_model.hpp.
#include <core/serial_model.hpp>

#include <algorithm>
#include <span>

namespace headrace::test {

SerialModel::SerialModel(const Program& program, const Topology& topology)
    : program_(program), topology_(topology) {
    states_.resize(program.data.size());
    values_.resize(program.data.size());
    has_warned_.resize(program.data.size());
    warnings_.resize(program.data.size());
    for (unsigned datum = 0; datum < program.data.size(); ++datum) renew(datum);
}

void SerialModel::renew(unsigned datum) {
    const DatumSpec& spec = program_.data[datum];
    has_warned_[datum] = false;
    const bool filled = spec.host == HostSide::borrowed;
    State state;
    if (filled) state.current.insert(host_replica);
    state.defined = filled;
    states_[datum].assign(spec.words, state);
    values_[datum].resize(spec.words);
    for (unsigned i = 0; i < spec.words; ++i) values_[datum][i] = initial(datum, i);
}

bool SerialModel::fetch(unsigned datum, State& word, ReplicaNumber replica, Fault fault) {
    if (word.poisoned) return false;
    if (word.current.empty()) {
        if (!has_warned_[datum]) ++warnings_[datum];
        has_warned_[datum] = true;
        return true;
    }
    if (word.current.has(replica)) return true;
    if (replica != host_replica && !(word.current & topology_.reachable[replica - 1]).empty()) {
        if (fault == Fault::copy_peer) return false;
    } else {
        if (!word.current.has(host_replica)) {
            if (fault == Fault::copy_out) return false;
            word.current.insert(host_replica);
        }
        if (replica != host_replica && fault == Fault::copy_in) return false;
    }
    word.current.insert(replica);
    return true;
}

void SerialModel::drop(State& word, ReplicaNumber replica) {
    word.current.erase(replica);
    if (word.current.empty()) word.defined = false;
}

bool SerialModel::touches_internal(const Step& step) const {
    return std::ranges::any_of(step.ranges, [&](const Range& range) {
        return program_.data[range.datum].host == HostSide::internal;
    });
}

Expected SerialModel::use(const Step& step, std::uint64_t number, ReplicaNumber replica) {
    Expected expected;
    const bool computes = step.what == What::kernel || step.what == What::host_task;
    std::vector<Word*> words;
    for (const Range& range : step.ranges) {
        auto& defined = expected.defined.emplace_back();
        for (unsigned i = range.begin; i < range.end; ++i) {
            State& word = states_[range.datum][i];
            defined.push_back(word.defined);
            if (reads(range.access) && !fetch(range.datum, word, replica, step.fault)) expected.fails = true;
        }
        words.push_back(values_[range.datum].data() + range.begin);
    }
    if (!computes) return expected;

    expected.runs = !expected.fails;
    expected.fails = expected.fails || step.fault == Fault::body;
    for (std::size_t r = 0; r < step.ranges.size(); ++r)
        for (unsigned i = 0; writes(step.ranges[r].access) && i < expected.defined[r].size(); ++i) {
            State& word = states_[step.ranges[r].datum][step.ranges[r].begin + i];
            word.current = expected.fails ? ReplicaSet{} : ReplicaSet{replica};
            word.poisoned = expected.fails;
            word.defined =
                !expected.fails &&
                (expected.defined[r][i] || gives_a_value(number, step.ranges[r], i, expected.defined[r][i]));
        }
    if (expected.runs && !expected.fails)
        expected.sum = compute(number, step.ranges, words, expected.defined);
    return expected;
}

Expected SerialModel::move(const Step& step, ReplicaNumber from, ReplicaNumber to) {
    Expected expected;
    const Fault fault = to == host_replica ? Fault::copy_out : Fault::copy_in;
    const Range& range = step.ranges.front();
    const auto words = std::span(states_[range.datum]).subspan(range.begin, range.end - range.begin);
    expected.refused = std::ranges::any_of(words, [&](const State& word) { return !word.current.has(from); });
    if (expected.refused) return expected;
    for (State& word : words) {
        if (!word.current.has(to) && step.fault == fault)
            expected.fails = true;
        else
            word.current.insert(to);
    }
    return expected;
}

Expected SerialModel::run(const Step& step, std::uint64_t number) {
    Expected expected;
    switch (step.what) {
    case What::kernel:
    case What::prefetch: {
        const ReplicaNumber replica = topology_.replica(step.on);
        return use(step, number, replica);
    }
    case What::host_task:
    case What::gather:
        expected.refused = touches_internal(step);
        return expected.refused ? expected : use(step, number, host_replica);
    case What::move_to:
    case What::move_from: {
        expected.refused = touches_internal(step);
        if (expected.refused) return expected;
        const ReplicaNumber replica = topology_.replica(step.on);
        return step.what == What::move_to ? move(step, host_replica, replica)
                                          : move(step, replica, host_replica);
    }
    case What::host_wrote: {
        expected.refused = touches_internal(step);
        if (expected.refused) return expected;
        const Range& range = step.ranges.front();
        for (unsigned i = range.begin; i < range.end; ++i) {
            states_[range.datum][i] = {{host_replica}, false, true};
            values_[range.datum][i] = written_by_host(number, i);
        }
        return expected;
    }
    case What::wait:
        expected.fails = is_poisoned(step.ranges.front());
        return expected;
    case What::release:
        if (topology_.replica(step.on) != host_replica)
            for (State& word : states_[step.ranges.front().datum]) drop(word, topology_.replica(step.on));
        return expected;
    case What::renew_datum:
        renew(step.ranges.front().datum);
        return expected;
    case What::renew_controller:
        if (topology_.replica(step.on) != host_replica)
            for (auto& words : states_)
                for (State& word : words) drop(word, topology_.replica(step.on));
        return expected;
    case What::wait_all:
    case What::set_mode:
        return expected;
    }
    return expected;
}

bool SerialModel::is_poisoned(const Range& range) const {
    return std::any_of(states_[range.datum].begin() + range.begin, states_[range.datum].begin() + range.end,
                       [](const State& word) { return word.poisoned; });
}

bool SerialModel::is_defined(unsigned datum, unsigned word) const {
    const State& state = states_[datum][word];
    return state.defined && !state.poisoned;
}

} // namespace headrace::test
