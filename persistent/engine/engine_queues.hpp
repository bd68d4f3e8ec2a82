// persistent/engine/engine_queues.hpp - the queues of an engine in the memory of its device: rings, bundles
// and records. Private to persistent/.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/persistent/detail/control.h>
#include <headrace/persistent/launcher.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace headrace {

/// What a kernel works on, and what the host changes between launches: it reads, writes and enlarges. The
/// control block says how much of it is in use. docs/engine.md has the layout.
///
/// Threads   one at a time, while no launch runs; calls block for their copies
class EngineQueues {
public:
    /// What the rings hold: entries[kind], then the free bundles.
    using Entries = std::vector<std::vector<std::uint64_t>>;
    struct FullBundle {
        std::uint32_t kind;
        std::uint64_t entry;
        std::vector<std::uint32_t> words;
    };

    /// All must outlive it. `image`: the host's copy of the control block.
    EngineQueues(Device& device, Stream& stream, HrControl& image)
        : device_(device), stream_(stream), image_(image) {}

    [[nodiscard]] bool exist() const noexcept { return control_ != nullptr; }
    /// For lane groups of another shape.
    void drop() noexcept { control_.reset(); }
    /// Makes new queues: every bundle is free, no group has a spare, and there is no record. `bundles`: at
    /// first; 0: its own choice.
    void lay_out(const EngineShape& shape, std::uint32_t bundles);
    /// Doubles the number of bundles. Full bundles keep their numbers. If memory does not suffice, the pool
    /// stays as it was.
    void grow();

    [[nodiscard]] Entries read_rings();
    /// Writes new rings for all bundles, with tickets from 0. Deals the entries of a kind to its rings in
    /// turn.
    void write_rings(const Entries& entries);
    /// Reads the words of bundles, in the order of the pool. One copy reads bundles that are neighbours or
    /// nearly so: the numbers of two differ by at most 8.
    void read_bundles(std::vector<FullBundle>& bundles);
    void write_bundle(std::uint32_t number, const std::vector<std::uint32_t>& words);

    /// Adds the records that no group restored to the saved ones: docs/engine.md, "Records suffice".
    void carry_records_on();
    /// Records of one half of the spill area, from `first` on.
    void read_records(std::uint64_t half, std::uint64_t first, std::uint32_t* words, std::uint64_t count);
    void write_records(std::uint64_t half, std::uint64_t first, const std::uint32_t* words,
                       std::uint64_t count);

    [[nodiscard]] std::uint32_t bundles() const noexcept { return bundles_; } ///< in the pool now
    [[nodiscard]] Bytes bytes() const noexcept;
    [[nodiscard]] Memory& control() const noexcept { return *control_; }
    [[nodiscard]] Memory& slots() const noexcept { return *slots_; }
    [[nodiscard]] Memory& bundle_words() const noexcept { return *bundle_words_; }
    [[nodiscard]] Memory& spill() const noexcept { return *spill_; }

private:
    [[nodiscard]] Bytes ring_bytes(std::uint32_t bundles) const;
    [[nodiscard]] Bytes bundle_at(std::uint32_t bundle) const;
    [[nodiscard]] Bytes record_bytes() const noexcept;
    [[nodiscard]] Bytes inbox_bytes() const noexcept;
    [[nodiscard]] Bytes record_at(std::uint64_t half, std::uint64_t number) const noexcept;

    Device& device_;
    Stream& stream_;
    HrControl& image_;
    EngineShape shape_;
    std::uint32_t bundles_ = 0;
    std::unique_ptr<Memory> control_, slots_, bundle_words_, spill_;
};

} // namespace headrace
