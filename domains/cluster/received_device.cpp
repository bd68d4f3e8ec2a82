// domains/cluster/received_device.cpp - see received_device.hpp.
#include "cluster/received_device.hpp"

#include <cstring>
#include <utility>

namespace headrace::cluster {
namespace {

class ReceivedMemory final : public Memory {
public:
    explicit ReceivedMemory(Bytes size) : bytes_(size) {}
    [[nodiscard]] Bytes size() const noexcept override { return bytes_.size(); }
    [[nodiscard]] void* address() const noexcept override { return bytes_.data(); }

private:
    mutable std::vector<std::byte> bytes_;
};

/// Copies at once, as soon as what it waits for has ended.
class ReceivedStream final : public Stream {
public:
    Event copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                  std::span<const Event> after) override {
        for (const Event& event : after) event.wait();
        std::memcpy(static_cast<std::byte*>(to.address()) + offset, from, size);
        return {};
    }
    Event copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                   std::span<const Event> after) override {
        for (const Event& event : after) event.wait();
        std::memcpy(to, static_cast<const std::byte*>(from.address()) + offset, size);
        return {};
    }
    Event copy_peer(Memory&, Bytes, const Memory&, Bytes, Bytes, std::span<const Event>) override {
        throw Error{ErrorKind::internal, "a device of another rank copies to no other device"};
    }
    Event fill(Memory&, Bytes, Bytes, Pattern, std::span<const Event>) override {
        throw Error{ErrorKind::internal, "a device of another rank fills no memory"};
    }
    Event launch(Body, std::span<const Event>) override {
        throw Error{ErrorKind::internal, "a device of another rank launches nothing here"};
    }
};

} // namespace

std::unique_ptr<Memory> ReceivedDevice::allocate(Bytes size) {
    return std::make_unique<ReceivedMemory>(size);
}
std::shared_ptr<void> ReceivedDevice::allocate_host(Bytes size) {
    return std::shared_ptr<void>(::operator new(size), [](void* memory) { ::operator delete(memory); });
}
std::unique_ptr<Stream> ReceivedDevice::make_stream(Timing) { return std::make_unique<ReceivedStream>(); }

void put_layout(Writer& writer, const DeviceInfo& info) {
    writer.put(info.technology).put(info.kind).put(info.compute_units).put(info.lane_group);
}

DeviceInfo get_layout(Reader& reader) {
    DeviceInfo info;
    info.technology = reader.text();
    info.kind = reader.get<DeviceKind>();
    info.compute_units = reader.get<unsigned>();
    info.lane_group = reader.get<unsigned>();
    return info;
}

} // namespace headrace::cluster
