// internal/domains/cluster/message.hpp - what ranks tell each other, as bytes. Internal to domains/.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/cluster/transport.hpp>
#include <headrace/persistent/unit_batch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace headrace::cluster {

/// The first byte of a message. Arguments are in the order in which they are written.
enum class Topic : std::uint8_t {
    report,   ///< to rank 0: number of the exchange, bytes
    reports,  ///< down the tree: number of the exchange, bytes of each rank
    want,     ///< to the rank above: job, whether it has none left, whether it takes units that spawned
              ///< elsewhere, its JobMark: it has little work left;
              ///< to the rank below: job: it wants units that spawned there
    grant,    ///< to the rank below: job, first and last unit
    batch,    ///< to the rank above or below: job, units that spawned: UnitBatch
    credit,   ///< to the rank above: job, completed units and batches so far, how long its busiest device has
              ///< worked, and its units per second
    close,    ///< down the tree: job: all its units are completed
    failure,  ///< to all neighbours in the tree: job, error
    replicas, ///< to rank 0: join, error, private replicas
    result,   ///< down the tree: join, rank that has its bytes, number of results, bytes
    leaving,  ///< to all ranks: this one ends, and its last error
    alive,    ///< to neighbours in the tree: nothing else, a sign of life
    suspect,  ///< to rank 0: a rank that seems to be lost
    members,  ///< to all ranks, from rank 0: generation, ranks that are lost
    ping,     ///< to rank 0: time of this rank's clock. Wire
    pong,     ///< from rank 0: that time, and that of the clock of rank 0. Wire
    figures,  ///< to rank 0: number of the round, bytes. Wire
};

/// Appends values to a message. Ranks have one byte order: Session checks that.
class Writer {
public:
    Writer() = default; ///< of a part of a message
    explicit Writer(Topic topic) { put(topic); }

    template <class T>
    Writer& put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
        append(&value, sizeof value);
        return *this;
    }
    Writer& put(std::span<const std::byte> bytes) {
        put<std::uint64_t>(bytes.size());
        append(bytes.data(), bytes.size());
        return *this;
    }
    Writer& put(const Message& bytes) { return put(std::span<const std::byte>(bytes)); }
    Writer& put(const std::string& text) { return put(std::as_bytes(std::span(text))); }
    Writer& put(const ErrorPtr& error) {
        put<std::uint8_t>(error ? 1 : 0);
        if (error)
            put(error->kind())
                .put(error->message())
                .put(error->device())
                .put(error->job())
                .put(error->task())
                .put(error->native_code());
        return *this;
    }
    Writer& put(const UnitBatch& units) {
        put(units.kinds()).put(units.unit_words()).put(units.ranges());
        for (std::uint32_t kind = 0; kind < units.kinds(); ++kind) {
            const std::uint64_t words = units.stored(kind) * units.unit_words();
            put(std::as_bytes(std::span(words > 0 ? units.unit(kind, 0) : nullptr, words)));
        }
        return *this;
    }
    [[nodiscard]] Message take() { return std::move(bytes_); }

private:
    void append(const void* from, std::size_t size) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + size);
        if (size > 0) std::memcpy(bytes_.data() + at, from, size);
    }

    Message bytes_;
};

/// Reads them again. Errors: internal, for a message that is too short.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

    template <class T>
    [[nodiscard]] T get() {
        static_assert(std::is_trivially_copyable_v<T>);
        T value;
        std::memcpy(&value, next(sizeof value).data(), sizeof value);
        return value;
    }
    [[nodiscard]] std::span<const std::byte> bytes() { return next(get<std::uint64_t>()); }
    [[nodiscard]] std::string text() {
        const auto found = bytes();
        return {reinterpret_cast<const char*>(found.data()), found.size()};
    }
    [[nodiscard]] UnitBatch units() {
        const auto kinds = get<std::uint32_t>(), words = get<std::uint32_t>(), ranges = get<std::uint32_t>();
        const std::uint64_t size = words * sizeof(std::uint32_t);
        // A kind has a bit in `ranges`.
        if (words == 0 || kinds > 32) throw Error{ErrorKind::internal, "a message has no work units"};
        UnitBatch units(kinds, words, ranges);
        std::vector<std::uint32_t> unit(words);
        for (std::uint32_t kind = 0; kind < kinds; ++kind) {
            const auto all = bytes();
            if (all.size() % size != 0) throw Error{ErrorKind::internal, "a message has half a work unit"};
            for (std::size_t at = 0; at < all.size(); at += size) {
                std::memcpy(unit.data(), all.data() + at, size);
                units.add(kind, unit.data(), 1);
            }
        }
        return units;
    }
    [[nodiscard]] ErrorPtr error() {
        if (get<std::uint8_t>() == 0) return nullptr;
        const auto kind = get<ErrorKind>();
        Error error(kind, text());
        error.on_device(text());
        error.in_job(text());
        error.in_task(text());
        error.with_code(get<std::int64_t>());
        return std::make_shared<const Error>(std::move(error));
    }

private:
    std::span<const std::byte> next(std::uint64_t size) {
        if (size > left_.size()) throw Error{ErrorKind::internal, "a message between ranks is too short"};
        const auto found = left_.first(size);
        left_ = left_.subspan(size);
        return found;
    }
    std::span<const std::byte> left_;
};

} // namespace headrace::cluster
