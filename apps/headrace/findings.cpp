// apps/headrace/findings.cpp - see findings.hpp: what the system says, without opening any device.
#include "findings.hpp"
#include <headrace/core/cache_folder.hpp>
#include <headrace/devices/cpu/topology.hpp>
#include <headrace/domains/calibrations.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>

#include <dlfcn.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headrace_program {
namespace {

namespace fs = std::filesystem;
using Level = Finding::Level;

std::string first_line(const fs::path& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    line.erase(line.find_last_not_of(" \t\r") + 1);
    return line;
}

/// Entries of a folder, sorted; none if it cannot be read.
std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) entries.push_back(entry.path());
    std::ranges::sort(entries);
    return entries;
}

bool is_there(const fs::path& file) {
    std::error_code ignored;
    return fs::exists(file, ignored);
}

/// The maker of GPUs, and the file that its driver makes.
struct Maker {
    std::string_view name, pci_vendor, driver_file, packages, container;
};
constexpr std::array makers{
    Maker{"NVIDIA", "0x10de", "nvidiactl", "nvidia-driver", "docker run --gpus all"},
    Maker{"AMD", "0x1002", "kfd", "the amdgpu driver, which Debian's kernels have, and firmware-amd-graphics",
          "docker run --device /dev/kfd --device /dev/dri"},
};

/// Display controllers (class 0x03) of a vendor.
std::size_t count_gpus(const fs::path& buses, std::string_view vendor) {
    return static_cast<std::size_t>(std::ranges::count_if(entries_of(buses), [&](const fs::path& device) {
        return first_line(device / "vendor") == vendor && first_line(device / "class").starts_with("0x03");
    }));
}

/// A device file that this user may not open, and the group that may.
void check_access(const fs::path& file, Findings& findings) {
    if (::access(file.c_str(), R_OK | W_OK) == 0 || errno == ENOENT) return;
    struct stat status {};
    std::string todo = "ask for access to it";
    if (::stat(file.c_str(), &status) == 0)
        if (const struct group* const group = ::getgrgid(status.st_gid); group != nullptr)
            todo = fmt::format("sudo usermod -a -G {} $USER, then log in again", group->gr_name);
    findings.push_back(
        {Level::problem, "permissions", file.string() + " may not be opened by this user", todo});
}

bool is_gpu_file(const std::string& name) {
    const auto is_numbered = [&](std::string_view begin) {
        return name.starts_with(begin) && name.size() > begin.size() &&
               std::ranges::all_of(name.substr(begin.size()), [](char c) { return c >= '0' && c <= '9'; });
    };
    return name == "nvidiactl" || name == "nvidia-uvm" || name == "kfd" || is_numbered("nvidia");
}

/// In PATH.
bool is_command(std::string_view name) {
    const char* const path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "";
    while (!rest.empty()) {
        const auto end = std::min(rest.find(':'), rest.size());
        if (::access((fs::path(rest.substr(0, end)) / name).c_str(), X_OK) == 0) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

/// Whether files can be made in a folder, or in it once it is made.
bool can_be_filled(fs::path folder) {
    while (!is_there(folder) && folder.has_relative_path()) folder = folder.parent_path();
    std::error_code ignored;
    return fs::is_directory(folder, ignored) && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

} // namespace

fs::path Places::icd_folder() {
    for (const char* const name : {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"})
        if (const char* const folder = std::getenv(name); folder != nullptr && *folder != '\0') return folder;
    return "/etc/OpenCL/vendors";
}

Findings look_at_gpus(const Places& places) {
    Findings findings;
    for (const Maker& maker : makers) {
        const std::size_t gpus = count_gpus(places.buses, maker.pci_vendor);
        const bool has_driver = is_there(places.devices / maker.driver_file);
        if (gpus > 0 && !has_driver)
            findings.push_back(
                {Level::problem, "driver",
                 fmt::format("{} GPU{} of {} on the bus, and no driver: {} is not there", gpus,
                             gpus > 1 ? "s" : "", maker.name, (places.devices / maker.driver_file).string()),
                 fmt::format("install {}; in a container: {}", maker.packages, maker.container)});
        else if (has_driver)
            findings.push_back({Level::fine, "driver", fmt::format("{}'s is loaded", maker.name)});
    }
    for (const fs::path& file : entries_of(places.devices))
        if (is_gpu_file(file.filename())) check_access(file, findings);
    for (const fs::path& file : entries_of(places.devices / "dri"))
        if (file.filename().string().starts_with("renderD")) check_access(file, findings);
    return findings;
}

Findings look_at_opencl(const Places& places) {
    Findings findings;
    std::size_t loaded = 0;
    const std::vector<fs::path> entries = is_there(places.icds) && !fs::is_directory(places.icds)
                                              ? std::vector{places.icds}
                                              : entries_of(places.icds);
    for (const fs::path& entry : entries) {
        if (entry.extension() != ".icd") continue;
        const std::string library = first_line(entry);
        if (library.empty()) {
            findings.push_back({Level::problem, "opencl", entry.string() + " names no library",
                                "remove it, or install its package again"});
        } else if (::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr) {
            const char* const why = ::dlerror();
            findings.push_back({Level::problem, "opencl",
                                fmt::format("{} names a library that does not load: {}", entry.string(),
                                            why != nullptr ? why : library),
                                "install the driver's package again, or remove the file"});
        } else {
            ++loaded;
        }
    }
    if (loaded > 0)
        findings.push_back(
            {Level::fine, "opencl",
             fmt::format("{} implementation{} in {}", loaded, loaded > 1 ? "s" : "", places.icds.string())});
    else if (findings.empty())
        findings.push_back(
            {Level::note, "opencl", "no implementation in " + places.icds.string(),
             "only if devices shall be used by OpenCL: install pocl-opencl-icd (processors), or "
             "the GPU's driver"});
    return findings;
}

Findings look_at_processors(const Places& places) {
    Findings findings;
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency()); // those of the affinity mask
    if (const double quota = headrace::processor_quota(places.control_groups); quota < cores - 0.5)
        findings.push_back(
            {Level::note, "processors",
             fmt::format(
                 "this container shows {} processors and gets the time of {:.1f}; devices named \"cpu\" "
                 "take no more",
                 cores, quota),
             "to use more: give the container whole processors (docker run --cpuset-cpus)"});
    else
        findings.push_back({Level::fine, "processors", fmt::format("{} for threads of this process", cores)});
    const auto nodes = std::ranges::count_if(entries_of(places.nodes), [](const fs::path& entry) {
        const std::string name = entry.filename();
        return name.starts_with("node") && name.size() > 4 && name[4] >= '0' && name[4] <= '9';
    });
    if (nodes > 1)
        findings.push_back(
            {Level::note, "numa",
             fmt::format("{} NUMA nodes; one device \"cpu\" uses the processors of all", nodes),
             "docs/devices.md says how each node becomes a device: faster where memory is the limit"});
    return findings;
}

Findings look_at_caches() {
    Findings findings;
    const fs::path folder = headrace::cache_folder();
    if (folder.empty())
        findings.push_back({Level::problem, "caches",
                            "neither XDG_CACHE_HOME nor HOME names a folder, so compiled OpenCL kernels and "
                            "measurements are lost at each end",
                            "set HOME"});
    else if (!can_be_filled(folder))
        findings.push_back({Level::problem, "caches",
                            folder.string() +
                                " cannot be written, so compiled OpenCL kernels and measurements "
                                "are lost at each end",
                            "let XDG_CACHE_HOME name a folder that can"});
    else
        findings.push_back({Level::fine, "caches", folder.string()});
    const fs::path file = headrace::Calibrations::file_of_user();
    if (file.empty()) return findings;
    if (!can_be_filled(file.parent_path()) && !folder.empty() && file.parent_path() != folder)
        findings.push_back({Level::problem, "calibrations", file.string() + " cannot be written",
                            "let HEADRACE_CALIBRATIONS name a file that can"});
    else if (headrace::Calibrations(file).entries().empty())
        findings.push_back(
            {Level::note, "calibrations",
             "no device has been measured; the first job of a kind shares its work out by peak "
             "figures",
             "headrace calibrate"});
    return findings;
}

Findings look_at_compilers(const Places& places) {
    Findings findings;
    const bool has_nvcc = is_command("nvcc") || ::access("/usr/local/cuda/bin/nvcc", X_OK) == 0;
    if (is_there(places.devices / "nvidiactl") && !has_nvcc)
        findings.push_back({Level::note, "nvcc",
                            "an NVIDIA GPU and no CUDA compiler: kernels of your own get no CUDA code here",
                            "install CUDA's nvcc, 12 or later, and put it into PATH"});
    if (is_there(places.devices / "kfd") && !is_command("hipcc"))
        findings.push_back({Level::note, "hipcc",
                            "an AMD GPU and no HIP compiler: kernels of your own get no HIP code here",
                            "install hipcc"});
    return findings;
}

} // namespace headrace_program
