// domains/cluster/received_device.hpp - private replicas of another rank, as if they were those of a device
// here. Internal to domains/.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/internal/domains/cluster/message.hpp>

#include <memory>
#include <vector>

namespace headrace::cluster {

/// A device of another rank. It computes nothing: it describes the layout of a replica, and copies from it.
///
/// Threads   as Device
/// Errors    internal, if it is to do anything else
class ReceivedDevice final : public Device {
public:
    explicit ReceivedDevice(DeviceInfo info) : info_(std::move(info)) {}

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] std::unique_ptr<Memory> allocate(Bytes size) override;
    [[nodiscard]] std::shared_ptr<void> allocate_host(Bytes size) override;
    [[nodiscard]] std::unique_ptr<Stream> make_stream(Timing timing) override;
    [[nodiscard]] bool reaches(const Device&) const override { return false; }
    [[nodiscard]] Bytes free_memory() const override { return 0; }

private:
    DeviceInfo info_;
};

/// Of a device's info, what a private replica's layout depends on.
void put_layout(Writer& writer, const DeviceInfo& info);
[[nodiscard]] DeviceInfo get_layout(Reader& reader);

} // namespace headrace::cluster
