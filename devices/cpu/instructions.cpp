// devices/cpu/instructions.cpp - see instructions.hpp.
#include <headrace/core/error.hpp>
#include <headrace/devices/cpu/instructions.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

namespace headrace {
namespace {

constexpr std::array sets = {Instructions::baseline, Instructions::avx2, Instructions::avx512};

Instructions instructions_of_processor() {
#if defined(__x86_64__) && defined(__GNUC__)
    const bool has_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                        __builtin_cpu_supports("popcnt");
    const bool has_v4 = has_v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
    return has_v4 ? Instructions::avx512 : has_v3 ? Instructions::avx2 : Instructions::baseline;
#else
    return Instructions::baseline;
#endif
}

std::atomic<Instructions>& in_use() {
    static std::atomic<Instructions> used{best_instructions()};
    return used;
}

} // namespace

std::string_view name_of(Instructions instructions) noexcept {
    switch (instructions) {
    case Instructions::avx2:
        return "avx2";
    case Instructions::avx512:
        return "avx512";
    default:
        return "baseline";
    }
}

Instructions best_instructions() {
    const char* const named = std::getenv("HEADRACE_INSTRUCTIONS");
    if (!named || !*named) return instructions_of_processor();
    const auto set =
        std::find_if(sets.begin(), sets.end(), [&](Instructions one) { return name_of(one) == named; });
    if (set == sets.end())
        throw Error(ErrorKind::invalid_argument,
                    "HEADRACE_INSTRUCTIONS is '" + std::string(named) + "': use baseline, avx2 or avx512");
    return std::min(*set, instructions_of_processor());
}

Instructions instructions_in_use() { return in_use().load(std::memory_order_relaxed); }

void use_instructions(Instructions instructions) {
    in_use() = std::min(instructions, instructions_of_processor());
}

} // namespace headrace
