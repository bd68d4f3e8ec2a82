// domains/cluster/numbers.cpp - see numbers.hpp.
#include <headrace/internal/domains/cluster/message.hpp>
#include <headrace/internal/domains/cluster/numbers.hpp>

namespace headrace::cluster {

std::optional<std::uint32_t> generation_of(const Message& bytes) {
    Reader message(bytes);
    switch (message.get<Topic>()) {
    case Topic::leaving:
    case Topic::alive:
    case Topic::suspect:
    case Topic::members:
        return std::nullopt;
    case Topic::replicas:
    case Topic::result:
        return message.get<JoinNumber>().job.generation;
    default:
        return message.get<CallNumber>().generation;
    }
}

} // namespace headrace::cluster
