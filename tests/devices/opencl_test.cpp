// What is particular to OpenCL: names, programs and their cache, parts of a processor, the driver's own
// words.
#include <headrace/internal/devices/opencl/native.hpp>
#include <headrace/internal/devices/opencl/opencl.hpp>
#include <headrace/internal/devices/opencl/program_cache.hpp>

#include <core/environment_variable.hpp>
#include <core/eventually.hpp>
#include <core/open_files.hpp>
#include <core/scratch_folder.hpp>
#include <core/waiting_call.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

namespace headrace::test {
namespace {

using opencl::ProgramCache;

using Bytes8 = std::vector<unsigned char>;

Bytes8 some_bytes(std::size_t count) {
    Bytes8 bytes(count);
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(7));
    return bytes;
}

/// The first one that is kept there.
std::filesystem::path program_in(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".clbin") return entry.path();
    return {};
}

std::string key_of(const std::filesystem::path& program) {
    std::ifstream in(program, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    std::uint64_t bytes = 0;
    whole.copy(reinterpret_cast<char*>(&bytes), sizeof bytes, 8);
    return whole.substr(32, bytes); // the file's header has 32 bytes
}

bool is_pci_address(const std::string& text) {
    unsigned domain = 0, bus = 0, device = 0, function = 0;
    char more = 0;
    return text.size() == sizeof("pci:0000:17:00.0") - 1 &&
           std::sscanf(text.c_str(), "pci:%4x:%2x:%2x.%1x%c", &domain, &bus, &device, &function, &more) == 4;
}

TEST(ProgramCache, GivesBackWhatWasStoredUnderThatKeyAlone) {
    const ScratchFolder folder;
    const ProgramCache cache(folder.path() / "made" / "on demand");
    EXPECT_FALSE(cache.load("a key"));
    cache.store("a key", some_bytes(1000));
    EXPECT_EQ(cache.load("a key"), some_bytes(1000));
    EXPECT_FALSE(cache.load("another key"));
    cache.store("a key", some_bytes(10));
    EXPECT_EQ(cache.load("a key"), some_bytes(10));
    cache.forget("a key");
    EXPECT_FALSE(cache.load("a key"));
}

TEST(ProgramCache, KeysWithOneHashAreToldApart) {
    const ScratchFolder folder;
    const ProgramCache cache(folder.path());
    cache.store("first", some_bytes(100));
    std::filesystem::rename(cache.file("first"), cache.file("other"));
    EXPECT_FALSE(cache.load("other"));
}

TEST(ProgramCache, EveryTruncationAndEveryFlippedByteIsNoticed) {
    const ScratchFolder folder;
    const ProgramCache cache(folder.path());
    const std::string key = "key";
    cache.store(key, some_bytes(40));
    std::ifstream in(cache.file(key), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    const auto write = [&](const std::string& text) {
        std::ofstream(cache.file(key), std::ios::binary | std::ios::trunc) << text;
    };
    for (std::size_t length = 0; length < whole.size(); ++length) {
        write(whole.substr(0, length));
        EXPECT_FALSE(cache.load(key)) << "cut to " << length;
    }
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string flipped = whole;
        flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
        write(flipped);
        EXPECT_FALSE(cache.load(key)) << "byte " << i;
    }
    write(whole + "x");
    EXPECT_FALSE(cache.load(key));
}

TEST(ProgramCache, AFolderThatCannotBeIsNoError) {
    const ScratchFolder folder;
    std::ofstream(folder.path() / "file") << "in the way";
    const ProgramCache cache(folder.path() / "file" / "below");
    cache.store("key", some_bytes(5));
    EXPECT_FALSE(cache.load("key"));
}

TEST(ProgramCache, ReadersSeeAllOfAFileOrNone) {
    const ScratchFolder folder;
    const ProgramCache cache(folder.path());
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < 4; ++t)
            threads.emplace_back([&cache, t] {
                for (std::size_t i = 0; i < 200; ++i) {
                    cache.store("key", some_bytes(100 * (t + 1)));
                    const auto seen = cache.load("key");
                    ASSERT_TRUE(seen);
                    ASSERT_EQ(seen->size() % 100, 0u);
                    ASSERT_EQ(*seen, some_bytes(seen->size()));
                }
            });
    }
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
    EXPECT_EQ(files, 1u); // no partial file stays behind
}

TEST(ProgramCache, LiesWhereXdgSays) {
    const EnvironmentVariable home("HOME", "/home/someone");
    {
        const EnvironmentVariable cache("XDG_CACHE_HOME", "/elsewhere");
        EXPECT_EQ(ProgramCache::of_user().file("k").parent_path(), "/elsewhere/headrace");
    }
    const EnvironmentVariable relative("XDG_CACHE_HOME", "not/absolute");
    EXPECT_EQ(ProgramCache::of_user().file("k").parent_path(), "/home/someone/.cache/headrace");
}

/// Every OpenCL device of this machine; skipped where there is none.
class OpenCl : public ::testing::Test {
protected:
    void SetUp() override {
        found_ = find_opencl_devices();
        if (found_.devices.empty())
            GTEST_SKIP() << "no OpenCL device: "
                         << (found_.left_out.empty() ? "" : found_.left_out.front().why);
    }

    static constexpr const char* doubling =
        "__kernel void twice(__global uint* x) { x[get_global_id(0)] *= 2; }";

    /// Builds `doubling`, runs it on 0, 1, ... and checks what comes back.
    static void expect_doubling_works(Device& device) {
        const auto program = build_program(opencl_target(device), doubling, "");
        const auto kernel = make_kernel(program, "twice");
        std::vector<std::uint32_t> values(1000);
        std::iota(values.begin(), values.end(), 0u);
        const auto memory = device.allocate(4 * values.size());
        const auto stream = device.make_stream(Timing::all);
        stream->copy_in(*memory, 0, values.data(), memory->size());
        const Event ran = stream->launch([&](const NativeStream& native) {
            const void* buffer = memory->handle();
            opencl::check(clSetKernelArg(kernel.get(), 0, sizeof buffer, &buffer), "clSetKernelArg");
            const std::size_t global = values.size();
            opencl::check(clEnqueueNDRangeKernel(static_cast<cl_command_queue>(native.stream), kernel.get(),
                                                 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
                          "clEnqueueNDRangeKernel");
        });
        stream->copy_out(values.data(), *memory, 0, memory->size()).wait();
        for (std::uint32_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], 2 * i);
        ASSERT_TRUE(ran.done());
        EXPECT_TRUE(ran.times());
    }

    DeviceCandidates found_;
};

TEST_F(OpenCl, DevicesAreNumberedInTheLoadersOrder) {
    std::set<std::string> ids;
    for (const auto& candidate : found_.devices) {
        const DeviceInfo& info = candidate.info;
        EXPECT_TRUE(info.id.starts_with("opencl:")) << info.id;
        EXPECT_TRUE(ids.insert(info.id).second) << info.id << " twice";
        EXPECT_EQ(info.technology, "opencl");
        EXPECT_FALSE(info.name.empty());
        EXPECT_FALSE(info.driver.empty());
        EXPECT_GT(info.memory, 0u);
        EXPECT_GT(info.largest_allocation, 0u);
        EXPECT_GT(info.peak_gflops, 0);
        for (const std::string& alias : candidate.aliases) EXPECT_TRUE(alias.starts_with("opencl:")) << alias;
    }
    EXPECT_EQ(found_.devices.front().info.id, "opencl:0");
}

TEST_F(OpenCl, TheSiliconBehindADeviceHasOneNameInAllTechnologies) {
    for (const auto& candidate : found_.devices) {
        const DeviceInfo& info = candidate.info;
        const bool nvidia = std::ranges::count(candidate.aliases, "opencl:nvidia") > 0;
        EXPECT_EQ(info.physical_id == "cpu", info.kind == DeviceKind::cpu);
        EXPECT_TRUE(!nvidia || is_pci_address(info.physical_id)) << info.physical_id;
    }
}

TEST_F(OpenCl, ProgramsAreBuiltAndKeptOnDisk) {
    const ScratchFolder folder;
    const EnvironmentVariable cache("XDG_CACHE_HOME", folder.path().string());
    for (const auto& candidate : found_.devices) {
        expect_doubling_works(*candidate.open());
        EXPECT_TRUE(std::filesystem::exists(program_in(folder.path() / "headrace")));
        expect_doubling_works(*candidate.open()); // another context, so from the disk
    }
}

/// Others may not even load it, as long as PoCL unpacks it.
TEST_F(OpenCl, OneProcessAtATimeBuildsAProgram) {
    const ScratchFolder folder;
    const EnvironmentVariable variable("XDG_CACHE_HOME", folder.path().string());
    expect_doubling_works(*found_.devices.front().open());
    const ProgramCache cache(folder.path() / "headrace");
    const std::string key = key_of(program_in(folder.path() / "headrace"));
    std::optional<WaitingCall> other;
    {
        const FileLock turn = cache.turn(key);
        other.emplace([&] { expect_doubling_works(*found_.devices.front().open()); });
        // It opens the same file for its turn: before, it may wait for PoCL.
        EXPECT_TRUE(eventually([&] {
            return other->has_returned() || open_files(folder.path() / "headrace" / "programs.lock") == 2;
        }));
        EXPECT_TRUE(other->waits());
    }
    other->join();
}

TEST_F(OpenCl, AProgramOnDiskThatTheDriverRefusesIsBuiltAnew) {
    const ScratchFolder folder;
    const EnvironmentVariable variable("XDG_CACHE_HOME", folder.path().string());
    expect_doubling_works(*found_.devices.front().open());
    const std::string key = key_of(program_in(folder.path() / "headrace"));
    const ProgramCache cache(folder.path() / "headrace");
    ASSERT_TRUE(cache.load(key));
    cache.store(key, some_bytes(64)); // whole, and nonsense
    expect_doubling_works(*found_.devices.front().open());
    EXPECT_NE(cache.load(key), some_bytes(64));
}

TEST_F(OpenCl, AFolderThatCannotBeWrittenIsNoError) {
    const EnvironmentVariable cache("XDG_CACHE_HOME", "/proc/no/such/folder");
    expect_doubling_works(*found_.devices.front().open());
}

TEST_F(OpenCl, AProgramThatDoesNotBuildSaysWhy) {
    const auto device = found_.devices.front().open();
    try {
        static_cast<void>(
            build_program(opencl_target(*device), "__kernel void f() { no_such_thing(); }", ""));
        FAIL() << "it was built";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kernel);
        EXPECT_EQ(error.native_code(), CL_BUILD_PROGRAM_FAILURE);
        EXPECT_NE(error.message().find("no_such_thing"), std::string::npos) << error.message();
    }
}

TEST_F(OpenCl, AKernelThatIsNotThereIsNamed) {
    const auto device = found_.devices.front().open();
    const auto program = build_program(opencl_target(*device), doubling, "");
    try {
        static_cast<void>(make_kernel(program, "thrice"));
        FAIL() << "it is there";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kernel);
        EXPECT_NE(error.message().find("thrice"), std::string::npos);
    }
}

TEST_F(OpenCl, FailuresCarryTheCallTheCodeAndItsName) {
    const auto device = found_.devices.front().open();
    const auto stream = device->make_stream();
    const auto memory = device->allocate(64);
    const auto buffer = static_cast<cl_mem>(memory->handle());
    const Event event = stream->launch([buffer](const NativeStream& native) {
        opencl::check(clEnqueueFillBuffer(static_cast<cl_command_queue>(native.stream), buffer, nullptr, 0, 0,
                                          64, 0, nullptr, nullptr),
                      "clEnqueueFillBuffer");
    });
    const ErrorPtr error = event.outcome();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::device);
    EXPECT_EQ(error->native_code(), CL_INVALID_VALUE);
    EXPECT_EQ(error->device(), device->info().id);
    EXPECT_EQ(error->message(), "clEnqueueFillBuffer: CL_INVALID_VALUE");
}

TEST_F(OpenCl, AProcessorCanBeDivided) {
    for (const auto& candidate : found_.devices) {
        if (!candidate.open_part) continue;
        const auto part = candidate.open_part(1);
        EXPECT_EQ(part->info().compute_units, 1u);
        EXPECT_LE(part->info().peak_gflops, candidate.info.peak_gflops);
        expect_doubling_works(*part);
        const auto whole = candidate.open_part(candidate.info.compute_units);
        EXPECT_EQ(whole->info().compute_units, candidate.info.compute_units);
        EXPECT_THROW(static_cast<void>(candidate.open_part(candidate.info.compute_units + 1)), Error);
        EXPECT_THROW(static_cast<void>(candidate.open_part(0)), Error);
    }
}

// PoCL's threads still end commands after those who waited for them have gone on and let go of all.
TEST_F(OpenCl, PartsOutliveThoseWhoOpenedThem) {
    bool can_be_divided = false;
    for (const DeviceCandidate& candidate : find_opencl_devices().devices) {
        if (!candidate.open_part || candidate.info.compute_units < 2) continue;
        can_be_divided = true;
        const std::vector<int> from(64, 7);
        for (int turn = 0; turn < 200; ++turn) {
            std::vector<int> to(from.size());
            const Bytes size = from.size() * sizeof(int);
            const auto part = candidate.open_part(1);
            const auto memory = part->allocate(size);
            const auto stream = part->make_stream();
            const Event there = stream->copy_in(*memory, 0, from.data(), size);
            stream->copy_out(to.data(), *memory, 0, size, {&there, 1}).wait();
            ASSERT_EQ(to, from) << "turn " << turn;
        }
    }
    if (!can_be_divided) GTEST_SKIP() << "no OpenCL device here can be divided";
}

TEST_F(OpenCl, MemoryOfAnotherDeviceIsRefused) {
    const auto first = found_.devices.front().open();
    const auto second = found_.devices.front().open(); // the same silicon, but another context
    EXPECT_FALSE(first->reaches(*second));
    const auto memory = second->allocate(64);
    std::array<char, 64> host{};
    try {
        static_cast<void>(first->make_stream()->copy_in(*memory, 0, host.data(), host.size()));
        FAIL() << "it was taken";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    }
}

TEST_F(OpenCl, ForeignEventsOfEitherOutcomeLetTheQueueGoOn) {
    const auto device = found_.devices.front().open();
    const auto stream = device->make_stream();
    const auto memory = device->allocate(64);
    for (int round = 0; round < 100; ++round) {
        Promise promise;
        const std::array after{promise.event()};
        const Event gated = stream->fill_zero(*memory, 0, 64, after);
        const Event behind = stream->fill_zero(*memory, 0, 64);
        std::jthread settler([&promise, round] {
            if (round % 2 == 0)
                promise.complete();
            else
                promise.fail(std::make_shared<const Error>(ErrorKind::kernel, "a host task broke"));
        });
        EXPECT_EQ(gated.outcome() != nullptr, round % 2 == 1);
        EXPECT_FALSE(behind.outcome());
    }
}

} // namespace
} // namespace headrace::test
