// tests/devices/device_file_test.cpp - what a configuration file means, and how it is told what is wrong with
// it.
#include <devices/devices_fixture.hpp>
#include <devices/requests.hpp>
#include <headrace/core/controller.hpp>
#include <headrace/devices/cpu/arena.hpp>
#include <headrace/internal/devices/cpu/placement.hpp>
#include <headrace/internal/devices/device_list.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include <sched.h>

namespace headrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A file with this text, for as long as the test runs.
class TomlFile {
public:
    explicit TomlFile(std::string_view text)
        : path_(std::filesystem::path(testing::TempDir()) /
                ("headrace-" + std::to_string(getpid()) + ".toml")) {
        std::ofstream(path_) << text;
    }
    ~TomlFile() { std::filesystem::remove(path_); }
    TomlFile(const TomlFile&) = delete;
    TomlFile& operator=(const TomlFile&) = delete;
    [[nodiscard]] std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

DeviceList read(std::string_view text, std::string_view machine = "mill") {
    return read_device_file(TomlFile(text).path(), machine);
}

std::vector<std::string> names(const DeviceList& list) {
    std::vector<std::string> all;
    for (const DeviceRequest& device : list.devices) all.push_back(device.name);
    return all;
}

// What the thesis' listing holds, and more: two machines, every kind, every key.
constexpr std::string_view two_machines = R"(
[[node]]
name = "mill"
host_numa = 1

[[node.device]]
kind = "cuda"
index = 1

[[node.device]]
kind = "cpu"
threads = 12
numa = "0-1"
copies = "private"

[[node.device]]
kind = "cpu"
numa = 2
copies = "zero"

[[node.device]]
kind = "opencl"
platform = "pocl"
threads = 3

[[node.device]]
kind = "opencl"
platform = 1
index = 2

[[node.device]]
kind = "opencl"
index = 4

[[node]]
name = "weir.example.org"

[[node.device]]
kind = "hip"
)";

TEST(DeviceFile, HoldsWhatAMachineHas) {
    const DeviceList mill = read(two_machines);
    EXPECT_THAT(names(mill), ElementsAre("cuda:1", "cpu", "cpu", "opencl:pocl.0", "opencl:1.2", "opencl:4"));
    EXPECT_EQ(mill.host.numa, 1u);
    EXPECT_EQ(mill.devices[0].settings, DeviceSettings{});
    EXPECT_EQ(mill.devices[1].settings, (DeviceSettings{12, NumaRange{0, 1}, true}));
    EXPECT_EQ(mill.devices[2].settings, (DeviceSettings{{}, NumaRange{2, 2}, false}));
    EXPECT_EQ(mill.devices[3].settings, (DeviceSettings{3, {}, {}}));
    EXPECT_THAT(mill.devices[1].where, HasSubstr(": line 10"));
}

TEST(DeviceFile, HoldsSeveralMachines) {
    for (const char* name : {"weir.example.org"})
        EXPECT_THAT(names(read(two_machines, name)), ElementsAre("hip"));
    EXPECT_THAT(names(read(two_machines, "mill.example.org")),
                testing::SizeIs(6)); // the part before the domain
    EXPECT_FALSE(read(two_machines, "weir.example.org").host.numa);
    const std::string others = std::string(two_machines) + "[[node]]\n[[node.device]]\nkind = \"cuda\"\n";
    EXPECT_THAT(names(read(others, "elsewhere")), ElementsAre("cuda")); // a node without a name is anybody's
    EXPECT_THAT(names(read(others, "mill")), testing::SizeIs(6));
}

TEST(DeviceFile, MayBeAPlainList) {
    const TomlFile file("# ours\ndevices = [\"cpu\", \" opencl:pocl\"]\n");
    for (const std::string& request : {"@" + file.path(), file.path()})
        EXPECT_THAT(names(read_device_list(request)), ElementsAre("cpu", "opencl:pocl"));
    setenv("HEADRACE_DEVICES", file.path().c_str(), 1);
    EXPECT_THAT(names(read_device_list("")), ElementsAre("cpu", "opencl:pocl"));
    unsetenv("HEADRACE_DEVICES");
}

TEST(DeviceFile, TheEnvironmentSaysWhichMachineToBe) {
    const TomlFile file(two_machines);
    setenv("HEADRACE_NODE", "weir.example.org", 1);
    EXPECT_THAT(names(read_device_list(file.path())), ElementsAre("hip"));
    unsetenv("HEADRACE_NODE");
}

TEST(DeviceFile, WhatIsWrongIsToldWithFileLineAndKey) {
    const std::string cpu = "[[node]]\n[[node.device]]\nkind = \"cpu\"\n";
    const std::string cuda = "[[node]]\n[[node.device]]\nkind = \"cuda\"\n";
    const std::string opencl = "[[node]]\n[[node.device]]\nkind = \"opencl\"\n";
    struct Mistake {
        std::string text, line, what;
    };
    for (const auto& [text, line, what] : std::vector<Mistake>{
             {"devices = [1]", "line 1", "\"devices\": every entry must be a name in quotes"},
             {"\ndevices = []", "line 2", "\"devices\": is empty"},
             {"devices = \"cpu\"", "line 1", "\"devices\": must be a list"},
             {"device = [\"cpu\"]", "line 1", "\"device\": means nothing here; known are devices, node"},
             {"\ndevices = [\"cpu\"", "line 2", ""},
             {"devices = [\"cpu\"]\n" + cpu, "line 1", "\"devices\": either"},
             {"node = 3", "line 1", "\"node\": write it as [[node]]"},
             {"[[node]]", "line 1", "\"device\": a node needs"},
             {"[[node]]\nname = 7", "line 2", "\"name\": must be a text in quotes"},
             {"[[node]]\ndevice = 1", "line 2", "\"device\": write it as [[node.device]]"},
             {"[[node]]\n[[node.device]]\nindex = 1", "line 2", "\"kind\": is missing"},
             {"[[node]]\n[[node.device]]\nkind = \"fpga\"", "line 3", "\"kind\": must be \"cpu\""},
             {"[[node]]\nhost_numa = -1\n[[node.device]]\nkind = \"cpu\"", "line 2",
              "\"host_numa\": must be"},
             {cpu + "thread = 4", "line 4", "\"thread\": means nothing for a cpu; known are kind, threads"},
             {cpu + "threads = 0", "line 4", "\"threads\": must be a whole number, 1 or more"},
             {cpu + "threads = \"4\"", "line 4", "\"threads\": must be a whole number"},
             {cpu + "numa = \"1-0\"", "line 4", "\"numa\": must begin before it ends"},
             {cpu + "numa = \"0-\"", "line 4", "\"numa\": must be a NUMA node or a range"},
             {cpu + "numa = 0.5", "line 4", "\"numa\": must be a whole number"},
             {cpu + "copies = \"some\"", "line 4", "\"copies\": must be \"zero\""},
             {cpu + "index = 0", "line 4", "\"index\": means nothing for a cpu"},
             {cuda + "threads = 4", "line 4", "\"threads\": means nothing for a GPU"},
             {cuda + "index = -1", "line 4", "\"index\": must be a whole number, 0 or more"},
             {opencl + "platform = -2", "line 4", "\"platform\": must be a whole number"},
             {cpu + cpu, "line 4", "\"name\": a second node"},
             {"[[node]]\nname = \"weir\"\n[[node.device]]\nkind = \"cpu\"", "line 1",
              "\"name\": no node is for this machine, \"mill\"; there are weir"}}) {
        const TomlFile file(text);
        try {
            static_cast<void>(read_device_file(file.path(), "mill"));
            ADD_FAILURE() << "no throw: " << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
            EXPECT_THAT(error.message(), HasSubstr(file.path() + ": " + line)) << text;
            EXPECT_THAT(error.message(), HasSubstr(what)) << text;
        }
    }
}

TEST(DeviceFile, AFileThatIsNotThereIsNotFound) {
    try {
        static_cast<void>(read_device_list("@/nowhere/devices.toml"));
        FAIL() << "no throw";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::not_found);
        EXPECT_THAT(error.message(), HasSubstr("/nowhere/devices.toml"));
    }
}

/// Two NUMA nodes of three cores with two hardware threads each; a container pays for two cores.
CpuTopology made_up() {
    CpuTopology topology;
    for (unsigned core = 0; core < 6; ++core) {
        topology.cores.push_back({core, core + 6});
        topology.nodes.push_back(core / 3);
    }
    topology.quota = {topology.cores.begin(), topology.cores.begin() + 2};
    return topology;
}

TEST(Place, GivesEachThreadACoreWhileThereAreAny) {
    EXPECT_THAT(place(made_up(), {.threads = 2}, {}), ElementsAre(Core{0}, Core{1}));
    EXPECT_THAT(place(made_up(), {.threads = 3, .numa = NumaRange{1, 1}}, {}),
                ElementsAre(Core{3}, Core{4}, Core{5}));
    EXPECT_THAT(place(made_up(), {.threads = 5, .numa = NumaRange{1, 1}}, {}),
                ElementsAre(Core{3, 9}, Core{4, 10}, Core{5}));
}

TEST(Place, TakesAllThatTheRangeHas) {
    EXPECT_THAT(place(made_up(), {.numa = NumaRange{0, 0}}, {}),
                ElementsAre(Core{0, 6}, Core{1, 7}, Core{2, 8}));
    EXPECT_EQ(place(made_up(), {.numa = NumaRange{0, 1}}, {}).size(), 6u);
}

TEST(Place, LeavesToOthersWhatTheyHave) {
    const std::vector<Core> taken = place(made_up(), {.threads = 1}, {});
    // Not even the other hardware thread of a core that is at work for somebody else.
    EXPECT_THAT(place(made_up(), {.numa = NumaRange{0, 0}}, taken), ElementsAre(Core{1, 7}, Core{2, 8}));
    EXPECT_THAT(place(made_up(), {}, taken), ElementsAre(Core{1, 7})); // the rest of what the container has
}

TEST(Place, SaysWhatThereIsNot) {
    const auto why = [](const DeviceSettings& settings, std::span<const Core> taken) -> std::string {
        try {
            static_cast<void>(place(made_up(), settings, taken));
        } catch (const Error& error) {
            return error.message();
        }
        return "no throw";
    };
    EXPECT_THAT(why({.numa = NumaRange{1, 2}}, {}), HasSubstr("\"numa\": NUMA node 2 has no core"));
    EXPECT_THAT(why({.threads = 13}, {}), HasSubstr("\"threads\": 13 are asked for, and 12"));
    EXPECT_THAT(why({.threads = 7, .numa = NumaRange{0, 0}}, {}),
                HasSubstr("6 hardware threads are left in NUMA"));
    EXPECT_THAT(why({.numa = NumaRange{0, 0}}, place(made_up(), {.numa = NumaRange{0, 0}}, {})),
                HasSubstr("\"numa\": 0 hardware threads are left"));
}

/// The processors that the threads of a device's kernels may run on.
std::set<unsigned> processors_of(Device& device) {
    std::mutex mutex;
    std::set<unsigned> processors;
    device.make_stream()
        ->launch([&](const NativeStream& native) {
            static_cast<CpuArena*>(native.stream)->run(64, [&](unsigned) {
                cpu_set_t set;
                sched_getaffinity(0, sizeof set, &set);
                const std::scoped_lock lock(mutex);
                for (unsigned processor = 0; processor < CPU_SETSIZE; ++processor)
                    if (CPU_ISSET(processor, &set)) processors.insert(processor);
            });
        })
        .wait();
    return processors;
}

TEST(SelectDevices, TwoProcessorDevicesShareNoCore) {
    if (read_topology().cores.size() < 2) GTEST_SKIP() << "there is one core";
    const TomlFile file("[[node]]\n[[node.device]]\nkind = \"cpu\"\nthreads = 1\ncopies = \"private\"\n"
                        "[[node.device]]\nkind = \"cpu\"\nthreads = 1\nnuma = 0\n");
    const DeviceSelection selection = select_devices(file.path());
    ASSERT_EQ(selection.devices.size(), 2u);
    EXPECT_EQ(selection.devices[0]->info().id, "cpu");
    EXPECT_EQ(selection.devices[1]->info().id, "cpu:1");
    const auto first = processors_of(*selection.devices[0]), second = processors_of(*selection.devices[1]);
    EXPECT_EQ(first.size(), 1u);
    EXPECT_EQ(second.size(), 1u);
    EXPECT_NE(first, second);
    // Memory of the one that is bound to a node is as good as any.
    const auto memory = selection.devices[1]->allocate(1 << 20);
    EXPECT_NO_THROW(selection.devices[1]->make_stream()->fill_zero(*memory, 0, 1 << 20).wait());
}

TEST(SelectDevices, ControllersAreToldHowToCopy) {
    const TomlFile file("[[node]]\n[[node.device]]\nkind = \"cpu\"\ncopies = \"private\"\n");
    const DeviceSelection selection = select_devices(file.path());
    ASSERT_EQ(selection.controllers.size(), 1u);
    EXPECT_FALSE(Controller(*selection.devices[0], selection.controllers[0]).is_zero_copy());
    const DeviceSelection plain = select_devices("cpu");
    EXPECT_TRUE(Controller(*plain.devices[0], plain.controllers.at(0)).is_zero_copy());
}

TEST(SelectDevices, WhatAFileAsksInVainIsToldWithItsLine) {
    for (const auto& [text, why] :
         {std::pair{"[[node]]\n[[node.device]]\nkind = \"cpu\"\nthreads = 100000\n",
                    "line 2: key \"threads\""},
          {"[[node]]\n[[node.device]]\nkind = \"cpu\"\nnuma = 900\n", "line 2: key \"numa\""},
          {"[[node]]\nhost_numa = 900\n[[node.device]]\nkind = \"cpu\"\n", "line 2: key \"host_numa\""},
          {"[[node]]\n[[node.device]]\nkind = \"cuda\"\nindex = 900\n",
           "line 2: no device answers to \"cuda:900\""}}) {
        const TomlFile file(text);
        try {
            static_cast<void>(select_devices(file.path()));
            ADD_FAILURE() << "no throw: " << text;
        } catch (const Error& error) {
            EXPECT_THAT(error.message(), HasSubstr(file.path() + ": " + why));
        }
    }
}

TEST(SelectDevices, AnOpenClProcessorTakesTheCoresBehind) {
    if (const auto why = absent("opencl:pocl"); !why.empty()) {
        ASSERT_FALSE(device_is_required("opencl:pocl")) << why;
        GTEST_SKIP() << why;
    }
    const std::size_t cores = read_topology().cores.size();
    if (cores < 2) GTEST_SKIP() << "there is one core";
    const std::string one = "[[node]]\n[[node.device]]\nkind = \"cpu\"\nthreads = 1\n";
    const std::string pocl = "[[node.device]]\nkind = \"opencl\"\nplatform = \"pocl\"\n";
    const TomlFile file(one + pocl);
    const DeviceSelection both = select_devices(file.path());
    ASSERT_EQ(both.devices.size(), 2u);
    EXPECT_EQ(both.devices[1]->info().compute_units, cores - 1);
    const TomlFile told("[[node]]\n" + pocl + "threads = 1\n");
    EXPECT_EQ(select_devices(told.path()).devices[0]->info().compute_units, 1u);
}

} // namespace
} // namespace headrace::test
