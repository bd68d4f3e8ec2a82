// domains/data/summation.hpp - adds up on the host what several devices have summed up separately. Internal
// to domains/.
#pragma once
#include "data/linked_devices.hpp"
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/domains/domain.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace headrace {

/// The sums of one domain.
///
/// Devices that reach each other form a group (`DeviceGroup`) and divide the sums. Each member adds up one
/// slice of all members' sums, reading the others over the link, and sends it to the host, so that all buses
/// are used. The host adds each piece as it comes. It adds up groups, and devices that reach no other, in the
/// given order: floating-point sums are the same in every run.
///
/// Threads: one at a time. The memories must outlive this object; its destructor waits for their requests.
class HEADRACE_EXPORT Summation {
public:
    /// `bytes`: whole elements of `element` bytes each.
    Summation(Bytes bytes, Bytes element, DomainData::Numbers numbers)
        : bytes_(bytes), element_(element), numbers_(numbers) {}
    ~Summation();
    Summation(const Summation&) = delete; // requests hold addresses of its members
    Summation& operator=(const Summation&) = delete;

    /// Adds the sums of one device, which are complete when `ready` has settled.
    void include(Device& device, Memory& memory, const Event& ready);
    /// True if some memories by now include sums of others.
    [[nodiscard]] bool has_mixed() const noexcept { return has_mixed_; }

    /// Adds all sums to `sums`, or overwrites it with them. Called once. Blocks. Errors: a device's. After an
    /// error, with `overwrite`, `sums` is unspecified; else it is unchanged, since nothing is added before
    /// all has come.
    void into(std::byte* sums, bool overwrite);

private:
    struct Member {
        Device* device;
        Memory* memory;
        std::unique_ptr<Stream> stream; ///< null: the host reads the memory in place
        Event ready;
    };
    struct DeviceGroup {
        std::vector<Member> members;
        std::shared_ptr<void> owner;        ///< owns `on_host`, unless that is a member's memory
        const std::byte* on_host = nullptr; ///< on the host
        std::vector<Event> came;            ///< events of its pieces
    };

    [[nodiscard]] std::size_t pieces() const noexcept;
    [[nodiscard]] Bytes begin_of(std::size_t piece) const noexcept;
    void choose_host_replica(DeviceGroup& group) const;
    void share_out(DeviceGroup& group);
    [[nodiscard]] Event add_up(const DeviceGroup& group, const Member& member, Bytes begin, Bytes end);
    void take_up(std::size_t piece, std::byte* sums, bool overwrite) const;

    Bytes bytes_, element_;
    DomainData::Numbers numbers_;
    bool has_mixed_ = false;
    LinkedDevices linked_;
    std::vector<DeviceGroup> groups_;
    std::vector<Event> requests_;
};

} // namespace headrace
