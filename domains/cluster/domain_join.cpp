// domains/cluster/domain_join.cpp - see domain_join.hpp.
#include "cluster/domain_join.hpp"
#include "cluster/received_device.hpp"
#include "data/replica_reader.hpp"
#include <headrace/domains/domain.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headrace::cluster {

std::vector<Replica> DomainJoin::receive() {
    const std::vector<Message> parts = node_->collect(number_);
    std::vector<Replica> replicas;
    for (const Message& part : parts) {
        if (part.empty()) continue; // this rank's
        Reader message(part);
        if (const ErrorPtr error = message.error()) throw Error{*error};
        for (auto count = message.get<std::uint64_t>(); count > 0; --count) {
            Device& device = *devices_.emplace_back(std::make_unique<ReceivedDevice>(get_layout(message)));
            const auto contents = message.bytes();
            Replica replica{nullptr, &device, device.allocate(contents.size()), {}, 0};
            std::ranges::copy(contents, static_cast<std::byte*>(replica.memory->address()));
            replicas.push_back(std::move(replica));
        }
    }
    return replicas;
}

void DomainJoin::publish(const Result& result) {
    Writer message;
    message.put(ErrorPtr{}).put<std::uint8_t>(result.records ? 1 : 0).put(result.records.value_or(0));
    message.put(std::span<const std::byte>(result.contents));
    node_->publish(number_, {{.bytes = message.take()}});
}

void DomainJoin::publish(const Error& error) {
    try {
        node_->publish(number_, {{.bytes = Writer().put(std::make_shared<const Error>(error)).take()}});
    } catch (const Error&) { // the ranks work together no more, and know it
    }
}

namespace {

Writer part_of(const DomainData& data, const Joining& joining, std::span<const Replica* const> mine,
               const ErrorPtr& error) {
    Writer part;
    part.put(error);
    if (error) return part;
    part.put<std::uint64_t>(mine.size());
    for (const Replica* const replica : mine) {
        const DeviceInfo& info = replica->device->info();
        put_layout(part, info);
        part.put(std::span<const std::byte>(contents_of(*replica, joining.replica_bytes(data, info))));
    }
    return part;
}

} // namespace

RankJoin::Result DomainJoin::exchange(const DomainData& data, const Joining& joining,
                                      std::span<const Replica* const> mine, const ErrorPtr& error) {
    Writer part;
    try {
        part = part_of(data, joining, mine, error);
    } catch (...) { // a lost device: rank 0 waits for this rank all the same
        part = Writer();
        part.put(current_error(ErrorKind::device));
    }
    const std::vector<Answer> answers = node_->exchange_with_first(number_, part.take());
    Reader message(answers.front().bytes);
    if (const ErrorPtr failed = message.error()) throw Error{*failed};
    Result result;
    const bool has_records = message.get<std::uint8_t>() != 0;
    const auto records = message.get<std::uint64_t>();
    if (has_records) result.records = records;
    const auto contents = message.bytes();
    result.contents.assign(contents.begin(), contents.end());
    node_->wire().need((mine.empty() ? 0 : joining.replica_bytes(data, {})) + contents.size());
    return result;
}

std::vector<IndexRange> DomainJoin::exchange_parts(DomainData& data, std::span<const IndexRange> mine,
                                                   const ErrorPtr& error) {
    auto* const host = static_cast<std::byte*>(data.storage().host());
    const auto bytes_at = [&](IndexRange elements) {
        return std::span(host + elements.begin * data.element_size(), elements.size() * data.element_size());
    };
    Writer own;
    own.put(error).put<std::uint64_t>(error ? 0 : mine.size());
    if (!error)
        for (const IndexRange elements : mine) {
            const std::span<const std::byte> contents = bytes_at(elements);
            own.put(node_->rank()).put(elements.begin).put(elements.end).put(contents);
            if (!is_first_rank()) node_->wire().need(contents.size());
        }

    std::vector<Part> parts;
    std::vector<Message> messages; // the parts refer to them
    std::vector<Answer> answers;   // or to these
    if (is_first_rank()) {
        try {
            messages = node_->collect(number_);
            messages[0] = own.take();
            for (const Message& message : messages)
                if (!message.empty()) read(message, parts); // else that rank is lost
            expect_apart(data, parts);
        } catch (...) {
            publish(*current_error(ErrorKind::internal));
            throw;
        }
    } else {
        answers = node_->exchange_with_first(number_, own.take());
        for (const Answer& answer : answers)
            if (answer.of < 0)
                read_together(answer.bytes, parts);
            else if (answer.of != node_->rank())
                read(answer.bytes, parts);
    }
    std::vector<IndexRange> of_others;
    for (const Part& part : parts) {
        if (part.rank == node_->rank()) continue;
        if (!is_first_rank()) node_->wire().need(part.contents.size());
        std::ranges::copy(part.contents, bytes_at(part.elements).begin());
        of_others.push_back(part.elements);
    }
    if (is_first_rank()) node_->publish(number_, answers_of(std::move(messages)));
    return of_others;
}

/// The parts of one rank. Errors: why it has none.
void DomainJoin::read(std::span<const std::byte> message, std::vector<Part>& parts) {
    Reader reader(message);
    if (const ErrorPtr failed = reader.error()) throw Error{*failed};
    for (auto count = reader.get<std::uint64_t>(); count > 0; --count) {
        const auto rank = reader.get<int>();
        const auto begin = reader.get<std::uint64_t>(), end = reader.get<std::uint64_t>();
        parts.push_back({rank, {begin, end}, reader.bytes()});
    }
}

/// Those of several ranks. Errors: why there are none.
void DomainJoin::read_together(std::span<const std::byte> message, std::vector<Part>& parts) {
    Reader reader(message);
    if (const ErrorPtr failed = reader.error()) throw Error{*failed};
    for (auto count = reader.get<std::uint64_t>(); count > 0; --count) read(reader.bytes(), parts);
}

/// On rank 0, of a message of each rank: large ones alone, so that they need not go back to their ranks, and
/// all others in one.
std::vector<Answer> DomainJoin::answers_of(std::vector<Message> messages) {
    constexpr std::size_t large = std::size_t{64} << 10; // bytes
    std::vector<Answer> answers(1);
    Writer together;
    std::uint64_t count = 0;
    for (const Message& message : messages) count += !message.empty() && message.size() < large ? 1 : 0;
    together.put(ErrorPtr{}).put(count);
    for (std::size_t rank = 0; rank < messages.size(); ++rank) {
        if (messages[rank].size() >= large)
            answers.push_back({static_cast<int>(rank), std::move(messages[rank])});
        else if (!messages[rank].empty())
            together.put(messages[rank]);
    }
    answers.front().bytes = together.take();
    return answers;
}

/// Sorts the parts. Errors: invalid_argument if parts of two ranks overlap.
void DomainJoin::expect_apart(const DomainData& data, std::vector<Part>& parts) {
    std::ranges::sort(parts, {}, [](const Part& part) { return part.elements.begin; });
    for (std::size_t i = 1; i < parts.size(); ++i)
        if (const Part& before = parts[i - 1], &part = parts[i]; part.elements.begin < before.elements.end)
            throw Error{
                ErrorKind::invalid_argument,
                fmt::format(
                    "tasks of rank {} and of rank {} write parts of domain '{}' that overlap: elements "
                    "[{}, {}) and [{}, {}); each element is for one task to write",
                    before.rank, part.rank, data.name(), before.elements.begin, before.elements.end,
                    part.elements.begin, part.elements.end)};
}

} // namespace headrace::cluster
