// domains/data/summation.hpp - adds up on the host what several devices have summed up separately. Internal
// to domains/.
#pragma once
#include "data/linked_devices.hpp"
#include "data/replica_reader.hpp"
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/domains/detail/joining.hpp>
#include <headrace/domains/domain.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace headrace {

/// The sums of one domain.
///
/// Devices that reach each other form a group (`DeviceGroup`) and divide the sums. Each member adds up one
/// share of all members' sums, reading the others over the link, and sends it to the host piece by piece. The
/// host takes pieces of all shares in turn, so that all buses are used, and while it adds one piece, the next
/// one moves. It adds up groups, and devices that reach no other, in the given order: floating-point sums are
/// the same in every run.
///
/// Threads: one at a time. The replicas must outlive this object; its destructor waits for their requests.
class HEADRACE_EXPORT Summation {
public:
    /// `bytes`: whole elements of `element` bytes each.
    Summation(Bytes bytes, Bytes element, DomainData::Numbers numbers);
    ~Summation();
    Summation(const Summation&) = delete; // requests hold addresses of its members
    Summation& operator=(const Summation&) = delete;

    /// Adds the sums of one device, which are complete when `replica.ready` has settled.
    void include(const Replica& replica);
    /// True if some memories by now include sums of others, or `sums` a part of what is added.
    [[nodiscard]] bool has_mixed() const noexcept { return has_mixed_; }

    /// Adds all sums to `sums`, or overwrites it with them. Called once. Blocks. Errors: a device's. After an
    /// error, with `overwrite`, `sums` is unspecified; else it is unchanged, unless something is mixed.
    void into(std::byte* sums, bool overwrite);

private:
    struct Member {
        const Replica* replica;
        IndexRange share{}; ///< of the pieces: it adds them up and sends them to the host
        std::unique_ptr<ReplicaReader> reader{};
        std::vector<std::size_t> pieces{}; ///< of its share, as the host reads them
        std::size_t read = 0;              ///< of them
        std::unique_ptr<Stream> stream{};  ///< adds the others' sums
    };
    using DeviceGroup = std::vector<Member>;

    [[nodiscard]] Bytes begin_of(std::size_t piece) const noexcept;
    [[nodiscard]] ReplicaReader::Piece piece(std::size_t number) const noexcept;
    void divide();
    void add_up(DeviceGroup& group);
    void fetch(Member& member, std::size_t which) const;
    [[nodiscard]] IndexRange share_of(std::size_t number, std::size_t shares) const noexcept;
    [[nodiscard]] std::vector<const std::byte*> read(std::size_t number);
    void take_up(std::byte* sums, std::span<const std::byte* const> sources, Bytes bytes,
                 bool overwrite) const;

    const Bytes bytes_, element_;
    const std::size_t pieces_; ///< their number
    const DomainData::Numbers numbers_;
    bool has_mixed_ = false;
    LinkedDevices linked_;
    std::vector<DeviceGroup> groups_;
    std::vector<std::size_t> order_; ///< of pieces, as the host reads them
    std::vector<Event> additions_;
};

} // namespace headrace
