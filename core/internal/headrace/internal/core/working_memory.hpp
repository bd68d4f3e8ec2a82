// internal/core/working_memory.hpp - the memory on which all tasks of a job work, if there is one.
#pragma once
#include <headrace/internal/core/state_text.hpp>

#include <cstddef>
#include <map>
#include <optional>

#include <algorithm>

namespace headrace {

/// Threads   one at a time
class WorkingMemory {
public:
    /// Nothing: each participant works on its own.
    explicit WorkingMemory(std::optional<std::size_t> first) : memory_(first) {}

    [[nodiscard]] bool is_one() const noexcept { return memory_.has_value(); }
    /// Tasks work on this one now.
    [[nodiscard]] bool is(std::size_t memory) const noexcept { return !memory_ || *memory_ == memory; }
    /// Some of the job was done in another one.
    [[nodiscard]] bool has_moved() const noexcept { return has_moved_; }
    void note_moved() noexcept { has_moved_ = true; }
    /// What was done elsewhere is done again.
    void start_again() noexcept { has_moved_ = false; }
    /// Goes to the memory whose participants are the fastest together. `capabilities`: by memory, of all that
    /// can work. False: there is none.
    [[nodiscard]] bool go_to_best(const std::map<std::size_t, double>& capabilities) {
        if (!memory_ || capabilities.empty()) return false;
        memory_ =
            std::ranges::max_element(capabilities, {}, [](const auto& one) { return one.second; })->first;
        return true;
    }
    void tell(StateText& out) const { out << (memory_ ? static_cast<long>(*memory_) : -1) << has_moved_; }

private:
    std::optional<std::size_t> memory_;
    bool has_moved_ = false;
};

} // namespace headrace
