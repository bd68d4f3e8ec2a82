// tests/core/random_program.cpp - see random_program.hpp.
#include <core/random_program.hpp>

#include <algorithm>
#include <array>
#include <random>

namespace headrace::test {

namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) { // splitmix64
    std::uint64_t z = a * 0x9E3779B97F4A7C15ULL + b + 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

bool depends_on_where_data_are(What what) {
    return what == What::move_to || what == What::move_from || what == What::release ||
           what == What::renew_controller;
}

/// An update may leave parts as they are.
bool updates(std::uint64_t number, unsigned i) { return (number + i) % 3 != 0; }

class Generator {
public:
    Generator(std::uint64_t seed, const Topology& topology, const Mix& mix)
        : random_(seed), topology_(topology), mix_(mix) {}

    Program program() {
        program_.stride = mix_.stride;
        program_.windows = mix_.windows;
        const std::array hosts{HostSide::owned, HostSide::borrowed, HostSide::borrowed, HostSide::from_device,
                               mix_.full_devices ? HostSide::owned : HostSide::internal};
        for (unsigned datum = 2 + below(mix_.data - 1); datum > 0; --datum)
            program_.data.push_back({8 + below(25), hosts[below(hosts.size())]});
        for (unsigned i = 0; i < mix_.steps; ++i) program_.steps.push_back(step());
        return std::move(program_);
    }

private:
    unsigned below(std::size_t end) { return static_cast<unsigned>(random_() % end); }
    bool one_in(unsigned many) { return below(many) == 0; }

    Range range() {
        Range range{below(program_.data.size()), 0, 0};
        const unsigned words = program_.data[range.datum].words;
        // Halves and wholes as often as odd cuts, so that ranges coincide now and then.
        const unsigned grain = one_in(3) ? 1 : words / 2;
        range.begin = below(words) / grain * grain;
        range.end = std::min(words, range.begin + grain * (1 + below(2)) + (one_in(8) ? below(5) : 0));
        return range;
    }

    /// A request may read what it writes, as where an array is given twice, but does not write anything
    /// twice.
    void add_range(std::vector<Range>& ranges) {
        Range added = range();
        added.access = static_cast<Access>(below(4));
        const auto clashes = [&](const Range& other) {
            const bool disjoint =
                other.datum != added.datum || other.end <= added.begin || added.end <= other.begin;
            return !disjoint && writes(other.access) && writes(added.access);
        };
        if (std::ranges::none_of(ranges, clashes)) ranges.push_back(added);
    }

    Step step() {
        const unsigned dice = below(100);
        const unsigned controller = below(topology_.controllers());
        Step step{What::kernel, controller, {}};
        if (dice < 62) {
            if (dice >= 42) {
                step.what = What::host_task;
                step.on = below(topology_.lanes + topology_.controllers());
            }
            for (unsigned uses = 1 + below(3); uses > 0; --uses) add_range(step.ranges);
            step.fault = fault(true);
            return step;
        }
        constexpr std::array others{What::prefetch,    What::prefetch, What::move_to, What::move_to,
                                    What::move_from,   What::gather,   What::gather,  What::host_wrote,
                                    What::wait,        What::wait_all, What::release, What::set_mode,
                                    What::renew_datum, What::move_from};
        do step.what = one_in(60) ? What::renew_controller : others[below(others.size())];
        while (mix_.full_devices && depends_on_where_data_are(step.what));
        if (step.what == What::set_mode) step.asynchronous = !one_in(3);
        if (step.what == What::wait_all) step.on = below(topology_.lanes + topology_.controllers());
        if (step.what == What::wait_all || step.what == What::set_mode || step.what == What::renew_controller)
            return step;
        step.ranges.push_back(range());
        if (step.what != What::host_wrote && step.what != What::wait && step.what != What::release &&
            step.what != What::renew_datum)
            step.fault = fault(false);
        return step;
    }

    Fault fault(bool has_body) {
        if (has_body && mix_.body_faults && one_in(12)) return Fault::body;
        if (!mix_.copy_faults || !one_in(16)) return Fault::none;
        return std::array{Fault::copy_in, Fault::copy_out, Fault::copy_peer}[below(3)];
    }

    std::mt19937_64 random_;
    const Topology& topology_;
    const Mix& mix_;
    Program program_;
};

std::string_view to_string(What what) {
    constexpr std::array<std::string_view, 13> names{
        "kernel", "host task", "prefetch", "move_to",     "move_from",        "gather",  "host_wrote",
        "wait",   "wait_all",  "release",  "renew datum", "renew controller", "set mode"};
    return names[static_cast<unsigned>(what)];
}

std::string_view to_string(Fault fault) {
    constexpr std::array<std::string_view, 5> names{"", "itself", "copies to devices", "copies to the host",
                                                    "peer copies"};
    return names[static_cast<unsigned>(fault)];
}

} // namespace

Program random_program(std::uint64_t seed, const Topology& topology, const Mix& mix) {
    return Generator(seed, topology, mix).program();
}

std::string describe(const Step& step, const Program& program, const Topology& topology) {
    std::string line{to_string(step.what)};
    const bool may_be_of_a_lane = step.what == What::host_task || step.what == What::wait_all;
    if (may_be_of_a_lane && step.on < topology.lanes)
        line += " of lane " + std::to_string(step.on);
    else if (may_be_of_a_lane)
        line += " of controller " + std::to_string(step.on - topology.lanes);
    else
        line += " on controller " + std::to_string(step.on);
    if (step.what == What::set_mode) line += step.asynchronous ? ": asynchronous" : ": synchronous";
    for (const Range& range : step.ranges)
        line += ", " + std::string(to_string(range.access)) + " datum " + std::to_string(range.datum) + "[" +
                std::to_string(range.begin) + ", " + std::to_string(range.end) + ") of " +
                std::to_string(program.data[range.datum].words);
    if (step.fault != Fault::none) line += "; fails: " + std::string(to_string(step.fault));
    return line;
}

std::string describe(const Program& program, const Topology& topology) {
    constexpr std::array<std::string_view, 4> hosts{"owned", "borrowed", "from a device", "internal"};
    std::string text;
    for (unsigned c = 0; c < topology.controllers(); ++c) {
        text += "controller " + std::to_string(c) + (topology.in_place[c] ? ": in place" : ": copies");
        for (unsigned other = 0; other < topology.controllers(); ++other)
            if (topology.reachable[c].has(ReplicaNumber{other} + 1))
                text += ", reaches " + std::to_string(other);
        text += '\n';
    }
    for (std::size_t i = 0; i < program.data.size(); ++i)
        text += "datum " + std::to_string(i) + ": " + std::to_string(program.data[i].words) + " words, " +
                std::string(hosts[static_cast<unsigned>(program.data[i].host)]) + '\n';
    for (std::size_t i = 0; i < program.steps.size(); ++i)
        text += std::to_string(i) + ". " + describe(program.steps[i], program, topology) + '\n';
    return text;
}

Program shrink(Program program, const std::function<bool(const Program&)>& fails) {
    for (std::size_t size = program.steps.size() / 2; size > 0; size /= 2)
        for (std::size_t begin = 0; begin + size <= program.steps.size();) {
            Program smaller = program;
            const auto first = smaller.steps.begin() + static_cast<std::ptrdiff_t>(begin);
            smaller.steps.erase(first, first + static_cast<std::ptrdiff_t>(size));
            if (fails(smaller))
                program = std::move(smaller);
            else
                begin += size;
        }
    return program;
}

std::uint64_t compute(std::uint64_t number, const std::vector<Range>& ranges, const std::vector<Word*>& words,
                      const std::vector<std::vector<bool>>& defined, unsigned stride) {
    std::uint64_t sum = mix(number, ranges.size());
    for (std::size_t r = 0; r < ranges.size(); ++r)
        for (unsigned i = 0; reads(ranges[r].access) && i < ranges[r].end - ranges[r].begin; ++i)
            if (defined[r][i]) sum = mix(sum, words[r][std::size_t{i} * stride]);
    for (std::size_t r = 0; r < ranges.size(); ++r)
        for (unsigned i = 0; writes(ranges[r].access) && i < ranges[r].end - ranges[r].begin; ++i) {
            if (!gives_a_value(number, ranges[r], i, defined[r][i])) continue;
            Word& word = words[r][std::size_t{i} * stride];
            if (ranges[r].access == Access::accumulate)
                word += static_cast<Word>(sum >> 17);
            else
                word = static_cast<Word>(mix(sum, i)) + (defined[r][i] && reads(ranges[r].access) ? word : 0);
        }
    return sum;
}

bool gives_a_value(std::uint64_t number, const Range& range, unsigned i, bool defined) {
    switch (range.access) {
    case Access::read:
        return false;
    case Access::write:
        return true;
    case Access::update:
        return updates(number, i);
    case Access::accumulate:
        return defined;
    }
    return false;
}

} // namespace headrace::test
