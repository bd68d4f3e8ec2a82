// tests/devices/program_test.cpp - the random programs of tests/core on real devices, alone and mixed: what
// they give is what running them one after another gives.
#include <core/program_search.hpp>
#include <devices/devices_fixture.hpp>
#include <devices/requests.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace headrace::test {
namespace {

/// Runs in turn what it is given, each once an event has completed.
class Worker {
public:
    Event run(Event after, std::function<void()> body) {
        Promise done;
        Event event = done.event();
        {
            const std::scoped_lock lock(mutex_);
            work_.push_back({std::move(after), std::move(body), std::move(done)});
        }
        changed_.notify_one();
        return event;
    }

private:
    struct Work {
        Event after;
        std::function<void()> body;
        Promise done;
    };

    void serve(const std::stop_token& stop) {
        for (;;) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, stop, [this] { return !work_.empty(); });
            if (work_.empty()) return;
            Work work = std::move(work_.front());
            work_.pop_front();
            lock.unlock();
            ErrorPtr failure = work.after.outcome();
            try {
                if (!failure) work.body();
            } catch (...) {
                failure = current_error();
            }
            if (failure)
                work.done.fail(std::move(failure));
            else
                work.done.complete();
        }
    }

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Work> work_;
    std::jthread thread_{[this](const std::stop_token& stop) { serve(stop); }}; // last: it uses the rest
};

/// Two controllers for each device; of a processor, one that works in place and one with copies of its own.
///
/// A kernel on a device that the host cannot address is a copy out, the body on the host, and a copy back on
/// a stream beside the controller's: no technology has to be named, and each bridge is used both ways.
class RealMachine final : public ProgramMachine {
public:
    explicit RealMachine(const std::vector<std::unique_ptr<Device>>& devices) {
        for (const auto& device : devices)
            for (const bool private_copies : {false, true}) {
                add_controller(*device, {.private_copies = private_copies});
                streams_.push_back(device->make_stream());
            }
        add_lanes(2);
    }

    Event kernel(unsigned on, const std::vector<Part>& parts, std::span<const TileUse> uses,
                 Body body) override {
        std::vector<Memory*> images;
        for (const Part& part : parts) images.push_back(&controller(on).memory(*part.storage));
        if (controller(on).device().info().technology == "cpu") {
            std::vector<Word*> words;
            for (std::size_t i = 0; i < images.size(); ++i)
                words.push_back(static_cast<Word*>(images[i]->address()) + parts[i].begin / sizeof(Word));
            return controller(on).launch(
                "kernel", uses, [words, body = std::move(body)](const NativeStream&) { body(words); });
        }
        return controller(on).submit("kernel", uses, [&](std::span<const Event> after) {
            return by_way_of_the_host(*streams_[on], parts, images, std::move(body), after);
        });
    }

private:
    Event by_way_of_the_host(Stream& stream, const std::vector<Part>& parts,
                             const std::vector<Memory*>& images, Body body, std::span<const Event> after) {
        auto copies = std::make_shared<std::vector<std::vector<Word>>>();
        std::vector<Event> read, written;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const Bytes size = parts[i].end - parts[i].begin;
            auto& words = copies->emplace_back(size / sizeof(Word));
            read.push_back(stream.copy_out(words.data(), *images[i], parts[i].begin, size, after));
        }
        const Event computed = worker_.run(Event::all(read), [copies, body = std::move(body)] {
            std::vector<Word*> words;
            for (auto& copy : *copies) words.push_back(copy.data());
            body(words);
        });
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (writes(parts[i].access))
                written.push_back(stream.copy_in(*images[i], parts[i].begin, (*copies)[i].data(),
                                                 parts[i].end - parts[i].begin, {&computed, 1}));
        written.push_back(computed);
        Event end = Event::all(written);
        end.then([copies](const ErrorPtr&) {}); // until then the copies must stay
        return end;
    }

    std::vector<std::unique_ptr<Stream>> streams_;
    Worker worker_;
};

class Programs : public OnDevices {};

auto alone_and_mixed() {
#if defined(HEADRACE_TEST_FAKE_HIP)
    return ::testing::Values("hip:0"); // all else is another program's
#else
    return ::testing::Values("cpu", "opencl:pocl", "opencl:nvidia", "cuda:0", "hip:0", "cpu,opencl:pocl",
                             "cuda:0,cuda:1", "cpu,cuda:0", "cpu,opencl:pocl,cuda:0");
#endif
}
INSTANTIATE_TEST_SUITE_P(Devices, Programs, alone_and_mixed(), test_name);

TEST_P(Programs, GiveWhatRunningThemOneAfterAnotherGives) {
    for (const unsigned stride : {1U, 16'384U}) // large data: what passes by the host goes in pieces
        EXPECT_EQ(test::find_a_failure(
                      {.programs = stride == 1 ? 500U : 100U,
                       // A copy that fails on a real device is the device's end.
                       .mix = {.stride = stride, .copy_faults = false},
                       .machine = [this](std::uint64_t) { return std::make_unique<RealMachine>(devices_); },
                       .programs_per_machine = 50}),
                  "");
}

class Growth : public OnDevices {};

INSTANTIATE_TEST_SUITE_P(Devices, Growth, every_device(), test_name);

TEST_P(Growth, NothingRemainsOfRequestsThatHaveEnded) {
    Controller first(device(), {.private_copies = true}), second(device(), {.private_copies = true});
    Storage storage("x", 4096, device().allocate_host(4096));
    const Tile tile = storage.tile();
    host_wrote(tile);
    const auto submit = [&](unsigned requests) {
        for (unsigned i = 0; i < requests; ++i) {
            const TileUse use{tile, i % 4 == 0 ? Access::read : Access::update};
            if (i % 8 == 7)
                first.host_task({&use, 1}, [] {});
            else
                (i % 3 == 0 ? first : second).launch("nothing", {&use, 1}, [](const NativeStream&) {});
            if (i % 500 == 499) headrace::wait(tile); // as programs do now and then
        }
        first.wait_all();
        second.wait_all();
    };
    submit(5'000); // pools of events and of memory are filled
    const std::size_t before = resident_memory();
    submit(20'000);
    EXPECT_LT(resident_memory(), before + (4U << 20U)) << "that is 200 bytes a request";
}

} // namespace
} // namespace headrace::test
