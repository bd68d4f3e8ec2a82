// internal/domains/launch_state.hpp - the states of a launch slot. Internal to domains/.
//
//     state             what happens                                  next states
//     Free              the slot has no task                          Preparing
//     Preparing         memory is bound, the request is made          Running, Injecting, WaitingForMemory
//     WaitingForMemory  a request that frees memory has not ended     Preparing, Paused
//     Running           the device computes                           Paused, Collecting
//     Injecting         it computes, and small tasks are added        Running, Paused
//     Paused            unbegun work may go to other devices          those of Preparing, Collecting
//     Collecting        tasks have ended, results are reported        Injecting, Free
//
// Any state can go to Free: the task fails, moves to another memory, or the device is lost. When the event of
// Running or Injecting is done, `Engine::collect` tells whether the launch paused. A launch ends only when no
// more tasks are added to it, so Injecting goes by Running. From Collecting a slot goes back to Injecting
// when it holds tasks that the ended launch did not wait for.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/core/event.hpp>

#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace headrace {

/// Threads: one.
class LaunchState {
public:
    struct Free {};
    struct Preparing {};
    struct Running {
        Event ended; ///< the launch
        bool asked_to_pause = false;
    };
    struct Injecting {
        Event ended;
        std::chrono::steady_clock::time_point opened = std::chrono::steady_clock::now();
        bool wanting = true;      ///< it gets tasks besides those that the slot holds
        std::uint64_t filled = 0; ///< seeds that it had and had not begun, after the last look
    };
    struct Paused {
        std::optional<Injecting> injecting = std::nullopt; ///< the launch continues in this state
        bool was_asked = false;                            ///< to pause
    };
    struct WaitingForMemory {
        Event freed;
        std::optional<Paused> paused = std::nullopt; ///< what continues then; nothing: it is prepared again
    };
    struct Collecting {
        Event ended; ///< the last launch
    };

    template <class State>
    [[nodiscard]] bool is() const noexcept {
        return std::holds_alternative<State>(state_);
    }
    /// Null in another state.
    template <class State>
    [[nodiscard]] State* as() noexcept {
        return std::get_if<State>(&state_);
    }
    template <class State>
    [[nodiscard]] const State* as() const noexcept {
        return std::get_if<State>(&state_);
    }
    /// `next` must be one of the next states of the present one.
    template <class State>
    State& enter(State next) {
        constexpr std::size_t number = number_of<State>();
        HEADRACE_ASSERT(may_follow(state_.index(), number));
        taken_.set(state_.index() * count + number);
        return state_.emplace<State>(std::move(next));
    }
    /// What the state waits for; null if it waits for nothing.
    [[nodiscard]] const Event* awaited() const noexcept {
        if (const auto* const waiting = as<WaitingForMemory>()) return &waiting->freed;
        if (const auto* const running = as<Running>()) return &running->ended;
        if (const auto* const injecting = as<Injecting>()) return &injecting->ended;
        return nullptr;
    }

    // The table above, by the numbers of the states.
    using States = std::variant<Free, Preparing, WaitingForMemory, Running, Injecting, Paused, Collecting>;
    template <class State, std::size_t Number = 0>
    [[nodiscard]] static constexpr std::size_t number_of() {
        if constexpr (std::is_same_v<State, std::variant_alternative_t<Number, States>>)
            return Number;
        else
            return number_of<State, Number + 1>();
    }
    [[nodiscard]] static constexpr bool may_follow(std::size_t from, std::size_t to) {
        constexpr bool table[count][count] = {
            // to: Free, Preparing, WaitingForMemory, Running, Injecting, Paused, Collecting
            {false, true, false, false, false, false, false}, // Free
            {true, false, true, true, true, false, false},    // Preparing
            {true, true, false, false, false, true, false},   // WaitingForMemory
            {true, false, false, false, false, true, true},   // Running
            {true, false, false, true, false, true, false},   // Injecting
            {true, false, true, true, true, false, true},     // Paused
            {true, false, false, false, true, false, false},  // Collecting
        };
        return table[from][to];
    }

    static constexpr std::size_t count = std::variant_size_v<States>;
    /// The transitions so far: bit `from * count + to`.
    [[nodiscard]] const std::bitset<count * count>& taken() const noexcept { return taken_; }

private:
    States state_;
    std::bitset<count * count> taken_;
};

} // namespace headrace
