// bench/sobel_pipeline.cpp - see sobel_pipeline.hpp.
#include "sobel_pipeline.hpp"

#include <atomic>
#include <exception>
#include <semaphore>
#include <thread>

namespace bench {

namespace {

std::size_t place(std::int64_t number, std::size_t places) {
    return static_cast<std::size_t>(number) % places;
}

} // namespace

std::int64_t SobelPipeline::run(sobel::FrameSource* source, sobel::FrameSink* sink, std::int64_t most) {
    const std::int64_t frames =
        asynchronous_ ? run_overlapped(source, sink, most) : run_in_turn(source, sink, most);
    if (sink != nullptr) sink->close();
    return frames;
}

std::int64_t SobelPipeline::run_in_turn(sobel::FrameSource* source, sobel::FrameSink* sink,
                                        std::int64_t most) {
    for (std::int64_t i = 0; i < most; ++i) {
        const std::size_t from = place(i, headers_in_.size()), to = place(i, headers_out_.size());
        sobel::FrameHeader header;
        if (source != nullptr && !source->read(header, {frame(from), bytes_})) return i;
        enqueue(i, from, to);
        wait_until_written(to);
        if (sink != nullptr) sink->write(header, {edges(to), bytes_});
    }
    return most;
}

std::int64_t SobelPipeline::run_overlapped(sobel::FrameSource* source, sobel::FrameSink* sink,
                                           std::int64_t most) {
    const std::size_t places_in = headers_in_.size(), places_out = headers_out_.size();
    std::counting_semaphore<> free_in(static_cast<std::ptrdiff_t>(places_in)), read(0), enqueued(0),
        free_out(static_cast<std::ptrdiff_t>(places_out));
    std::atomic<std::int64_t> frames_read = 0, frames_enqueued = 0;
    std::atomic<bool> stop = false;
    std::exception_ptr read_failure, write_failure;

    std::thread reading, writing;
    if (source != nullptr)
        reading = std::thread([&] {
            try {
                for (std::int64_t i = 0; i < most; ++i) {
                    free_in.acquire();
                    if (stop) break;
                    const std::size_t to = place(i, places_in);
                    wait_until_read(to);
                    if (!source->read(headers_in_[to], {frame(to), bytes_})) break;
                    ++frames_read;
                    read.release();
                }
            } catch (...) {
                read_failure = std::current_exception();
            }
            read.release();
        });
    if (sink != nullptr)
        writing = std::thread([&] {
            try {
                for (std::int64_t i = 0;; ++i) {
                    enqueued.acquire();
                    if (i >= frames_enqueued) break;
                    const std::size_t from = place(i, places_out);
                    wait_until_written(from);
                    sink->write(headers_out_[from], {edges(from), bytes_});
                    free_out.release();
                }
            } catch (...) {
                write_failure = std::current_exception();
                stop = true;
                free_out.release();
            }
        });

    std::int64_t i = 0;
    for (; i < most; ++i) {
        if (source != nullptr) {
            read.acquire();
            if (frames_read <= i) break;
        }
        if (sink != nullptr) free_out.acquire();
        if (stop) break;
        const std::size_t from = place(i, places_in), to = place(i, places_out);
        enqueue(i, from, to);
        headers_out_[to] = headers_in_[from];
        free_in.release();
        ++frames_enqueued;
        enqueued.release();
    }
    stop = true;
    free_in.release();
    enqueued.release();
    if (reading.joinable()) reading.join();
    if (writing.joinable()) writing.join();
    wait_for_all();
    for (const std::exception_ptr& failure : {write_failure, read_failure})
        if (failure) std::rethrow_exception(failure);
    return i;
}

} // namespace bench
