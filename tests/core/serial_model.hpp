// tests/core/serial_model.hpp - the meaning of a program of requests: it runs them one after another on plain
// arrays, and keeps for every word which replicas hold it, by the rules of the specification written down
// once more.
#pragma once
#include <core/random_program.hpp>

#include <cstdint>
#include <vector>

namespace headrace::test {

/// What a step must do.
struct Expected {
    bool refused = false; ///< throws instead of being taken, and nothing has changed
    bool fails = false;   ///< its event carries an Error; of a wait: it throws
    bool runs = false;    ///< the body of a kernel or host task is called
    std::uint64_t sum = 0;
    std::vector<std::vector<bool>> defined; ///< see compute
};

class SerialModel {
public:
    SerialModel(const Program& program, const Topology& topology);

    /// Steps in order, each once.
    Expected run(const Step& step, std::uint64_t number);

    /// A request failed that would have written some word of the range, and nothing has healed it.
    [[nodiscard]] bool is_poisoned(const Range& range) const;
    [[nodiscard]] bool is_defined(unsigned datum, unsigned word) const;
    [[nodiscard]] Word value(unsigned datum, unsigned word) const { return values_[datum][word]; }
    /// How often the datum was read before anything wrote it: once at most before it is renewed.
    [[nodiscard]] unsigned warnings(unsigned datum) const { return warnings_[datum]; }

    /// What borrowed memory holds at first, and what the program's own thread writes before host_wrote.
    [[nodiscard]] static Word initial(unsigned datum, unsigned word) { return datum * 1000 + word; }
    [[nodiscard]] static Word written_by_host(std::uint64_t number, unsigned word) {
        return static_cast<Word>(number * 77 + word);
    }

private:
    struct State {
        ReplicaSet current;
        bool poisoned = false;
        bool defined = false;
    };

    void renew(unsigned datum);
    /// Makes `replica` current where something is; false if that fails, or what is there has failed.
    bool fetch(unsigned datum, State& word, ReplicaNumber replica, Fault fault);
    void drop(State& word, ReplicaNumber replica);
    Expected use(const Step& step, std::uint64_t number, ReplicaNumber replica);
    Expected move(const Step& step, ReplicaNumber from, ReplicaNumber to);
    [[nodiscard]] bool touches_internal(const Step& step) const;

    const Program& program_;
    const Topology& topology_;
    std::vector<std::vector<State>> states_;
    std::vector<std::vector<Word>> values_;
    std::vector<bool> has_warned_;
    std::vector<unsigned> warnings_;
};

} // namespace headrace::test
