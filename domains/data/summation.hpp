// domains/data/summation.hpp - what several devices have summed up, each for itself, comes to the host as
// one. Private to domains/.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/domains/domain.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace headrace {

/// Sums of one datum.
///
/// Devices that reach each other are a team, whose members share its sums out: each adds up a slice of all of
/// them, every other member's over the link, and sends that, so that all buses carry a part. The host takes
/// up each piece as it comes. Teams, and devices that reach nobody, it adds up itself, in the order in which
/// they were given: floating-point sums are the same from run to run.
///
/// Threads: one at a time. The memories stay until it is destroyed, which waits for all that uses them.
class HEADRACE_EXPORT Summation {
public:
    /// `bytes` in whole elements of that size.
    Summation(Bytes bytes, Bytes element, DomainData::Numbers numbers)
        : bytes_(bytes), element_(element), numbers_(numbers) {}
    ~Summation();
    Summation(const Summation&) = delete; // requests hold addresses of what it owns
    Summation& operator=(const Summation&) = delete;

    /// A device's, complete once `ready` has settled.
    void include(Device& device, Memory& memory, const Event& ready);
    /// Some of the memories hold what was in others by now.
    [[nodiscard]] bool has_mixed() const noexcept { return has_mixed_; }

    /// Adds all to `sums`, or overwrites it with them; once. Blocks. Errors: a device's; what was to be
    /// overwritten then holds anything, what was to be added to is as before: nothing is added before all is
    /// there.
    void into(std::byte* sums, bool overwrite);

private:
    struct Member {
        Device* device;
        Memory* memory;
        std::unique_ptr<Stream> stream; ///< null: the host reads the memory where it is
        Event ready;
    };
    struct Team {
        std::vector<Member> members;
        std::shared_ptr<void> owner;      ///< of `image`, if that is no member's memory
        const std::byte* image = nullptr; ///< the host's
        std::vector<Event> came;          ///< its pieces
    };

    [[nodiscard]] bool can_join(const Team& team, const Device& device) const;
    [[nodiscard]] std::size_t pieces() const noexcept;
    [[nodiscard]] Bytes begin_of(std::size_t piece) const noexcept;
    void choose_image(Team& team) const;
    void share_out(Team& team);
    [[nodiscard]] Event add_up(const Team& team, const Member& member, Bytes begin, Bytes end);
    void take_up(std::size_t piece, std::byte* sums, bool overwrite) const;

    Bytes bytes_, element_;
    DomainData::Numbers numbers_;
    bool has_mixed_ = false;
    std::vector<Team> teams_;
    std::vector<Event> requests_;
};

} // namespace headrace
