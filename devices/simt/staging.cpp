// devices/simt/staging.cpp - see staging.hpp.
#include "simt/staging.hpp"
#include "simt/host_call.hpp"
#include <headrace/internal/devices/serial_executor.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace headrace::HEADRACE_ON_SIMT {
namespace {

constexpr Bytes half = Context::staging_bytes / 2;

/// A copy in pieces, which use the two halves of a buffer in turn.
struct Pieces {
    StagedCopy copy;
    std::byte* buffer;

    [[nodiscard]] std::size_t count() const { return (copy.size + half - 1) / half; }
    [[nodiscard]] Bytes size(std::size_t i) const { return std::min(half, copy.size - i * half); }
    [[nodiscard]] std::byte* staged(std::size_t i) const { return buffer + i % 2 * half; }

    void by_device(std::size_t i, StreamHandle stream) const {
        std::byte* const device = copy.device + i * half;
        if (copy.in)
            HEADRACE_CALL(MemcpyAsync, device, staged(i), size(i), HEADRACE_RUNTIME(MemcpyHostToDevice),
                          stream);
        else
            HEADRACE_CALL(MemcpyAsync, staged(i), device, size(i), HEADRACE_RUNTIME(MemcpyDeviceToHost),
                          stream);
    }
    void by_host(std::size_t i) const {
        std::byte* const host = copy.host + i * half;
        if (copy.in)
            std::memcpy(staged(i), host, size(i));
        else
            std::memcpy(host, staged(i), size(i));
    }
};

/// For devices that cannot wait for words: uses the driver's callbacks, one piece after another.
Event stage_by_callbacks(SharedStream& stream, const Pieces& pieces) {
    auto done = std::make_shared<Promise>();
    for (std::size_t i = 0; i < pieces.count(); ++i) {
        const auto by_host = [pieces, i](Status status) {
            if (status == success) pieces.by_host(i);
        };
        if (pieces.copy.in) call_on_host(stream.native(), by_host);
        pieces.by_device(i, stream.native());
        if (!pieces.copy.in) call_on_host(stream.native(), by_host);
    }
    call_on_host(stream.native(), [done](Status) { notify([done] { done->complete(); }); });
    return done->event();
}

} // namespace

// The stream and the watching thread process the pieces together. The host copies piece i when event
// `come[i]` has completed, and then sets the word to i + 1 (plus its base). The stream waits for that value
// before the device copies piece i (copy to the device) or piece i + 2, in the same half (copy from the
// device).
Event stage(SharedStream& stream, const StagedCopy& copy, std::byte* buffer) {
    const Pieces pieces{copy, buffer};
    const std::size_t count = pieces.count();
    TimelineSemaphores& semaphores = stream.context().semaphores();
    if (!semaphores.usable()) return stage_by_callbacks(stream, pieces);

    auto come = std::make_shared<std::vector<PooledEvent>>();
    auto done = std::make_shared<Promise>();
    Event event = done->event();
    const TimelineSemaphores::Word word =
        semaphores.take(count); // from here on it must be signalled in every case
    const auto wait_for = [&, base = word.value - count](std::size_t pieces_done) {
        SemaphoreMemory::wait(stream.native(), word.memory, base + pieces_done);
    };
    try {
        // In a copy to the device, the host needs a free half. The first two halves are free when the stream
        // has come here. Later, a half is free when the device has read the piece before the last one.
        if (copy.in)
            for (std::size_t i = 0; i < std::min<std::size_t>(count, 2); ++i)
                come->push_back(stream.record());
        for (std::size_t i = 0; i < count; ++i) {
            if (copy.in)
                wait_for(i + 1);
            else if (i >= 2)
                wait_for(i - 1);
            pieces.by_device(i, stream.native());
            if (!copy.in || i + 2 < count) come->push_back(stream.record());
        }
        if (!copy.in) wait_for(count);
        stream.when(come->front().get(), [pieces, come, done = std::move(done), word, &semaphores,
                                          &waiter = stream.context().waiter()](Status status) {
            const std::uint64_t base = word.value - pieces.count();
            for (std::size_t i = 0; i < pieces.count(); ++i) {
                if (i > 0) status = waiter.until((*come)[i].get());
                if (status == success) pieces.by_host(i); // else the device is lost, and its work has failed
                TimelineSemaphores::advance(word, base + i + 1);
            }
            semaphores.signal(word);
            done->complete();
        });
        return event;
    } catch (...) {
        semaphores.signal(word); // enqueued work must not wait for ever; the request fails
        throw;
    }
}

} // namespace headrace::HEADRACE_ON_SIMT
