// domains/cluster/numbers.cpp - see numbers.hpp.
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/cluster/message.hpp>
#include <headrace/internal/domains/cluster/numbers.hpp>

namespace headrace::cluster {
namespace {

constexpr int ordinal_bits = 32, join_bits = 10;

} // namespace

std::uint64_t first_of(std::uint64_t generation) { return generation << ordinal_bits; }
std::uint64_t generation_of(std::uint64_t number) { return number >> ordinal_bits; }

std::uint64_t key_of_join(std::uint64_t job, std::uint64_t number) {
    HEADRACE_ASSERT(number < std::uint64_t{1} << join_bits);
    return job << join_bits | number;
}
std::uint64_t generation_of_join(std::uint64_t key) { return generation_of(key >> join_bits); }

std::optional<std::uint64_t> generation_of(const Message& bytes) {
    Reader message(bytes);
    switch (message.get<Topic>()) {
    case Topic::leaving:
    case Topic::alive:
    case Topic::suspect:
    case Topic::members:
        return std::nullopt;
    case Topic::replicas:
    case Topic::result:
        return generation_of_join(message.get<std::uint64_t>());
    default:
        return generation_of(message.get<std::uint64_t>());
    }
}

} // namespace headrace::cluster
