// domains/cluster/domain_join.cpp - see domain_join.hpp.
#include "cluster/domain_join.hpp"
#include "cluster/received_device.hpp"
#include "data/replica_reader.hpp"
#include <headrace/domains/domain.hpp>

#include <algorithm>
#include <utility>

namespace headrace::cluster {

std::vector<Replica> DomainJoin::receive() {
    const std::vector<Message> parts = node_->collect(key_);
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
    node_->publish(key_, message.take());
}

void DomainJoin::publish(const Error& error) {
    node_->publish(key_, Writer().put(std::make_shared<const Error>(error)).take());
}

RankJoin::Result DomainJoin::exchange(const DomainData& data, const Joining& joining,
                                      std::span<const Replica* const> mine, const ErrorPtr& error) {
    Writer part;
    part.put(error);
    if (!error) {
        part.put<std::uint64_t>(mine.size());
        for (const Replica* const replica : mine) {
            const DeviceInfo& info = replica->device->info();
            put_layout(part, info);
            part.put(std::span<const std::byte>(contents_of(*replica, joining.replica_bytes(data, info))));
        }
    }
    const Message answer = node_->exchange_with_first(key_, part.take());
    Reader message(answer);
    if (const ErrorPtr failed = message.error()) throw Error{*failed};
    Result result;
    const bool has_records = message.get<std::uint8_t>() != 0;
    const auto records = message.get<std::uint64_t>();
    if (has_records) result.records = records;
    const auto contents = message.bytes();
    result.contents.assign(contents.begin(), contents.end());
    return result;
}

} // namespace headrace::cluster
