// domains/cluster/host_share.cpp - see host_share.hpp.
#include "cluster/host_share.hpp"
#include <headrace/core/log.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace headrace::cluster {
namespace {

/// A number at the begin of a file of Linux; 0 without the file.
int number_of(int processor, const char* file) {
    std::ifstream stream(fmt::format("/sys/devices/system/cpu/cpu{}/topology/{}", processor, file));
    int number = 0;
    stream >> number;
    return number;
}

/// In an order in which hardware threads of one core are neighbours, and so are the cores of one socket.
std::vector<int> processors_of(const cpu_set_t& set) {
    std::vector<std::tuple<int, int, int>> found;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor)
        if (CPU_ISSET(processor, &set))
            found.emplace_back(number_of(processor, "physical_package_id"),
                               number_of(processor, "thread_siblings_list"), processor);
    std::ranges::sort(found);
    std::vector<int> processors;
    for (const auto& [package, core, processor] : found) processors.push_back(processor);
    return processors;
}

/// For all threads that this process has so far, those of MPI among them. A processor device uses the cores
/// that any thread may use. False if the calling thread cannot be bound.
bool bind_threads(const cpu_set_t& cores) {
    std::error_code error;
    for (std::filesystem::directory_iterator thread("/proc/self/task", error), end; !error && thread != end;
         thread.increment(error))
        ::sched_setaffinity(std::atoi(thread->path().filename().c_str()), sizeof cores, &cores);
    return ::sched_setaffinity(0, sizeof cores, &cores) == 0;
}

/// True if the request is for all devices of its technology, or of any.
bool is_of_many(const DeviceInfo& device, std::string_view request) {
    const char* const variable = request.empty() ? std::getenv("HEADRACE_DEVICES") : nullptr;
    std::istringstream names(variable != nullptr ? variable : std::string(request.empty() ? "all" : request));
    for (std::string name; std::getline(names, name, ',');)
        if (name == "all" || name == device.technology) return true;
    return false;
}

} // namespace

PlaceOnHost PlaceOnHost::of(const Node& node) {
    const auto& hosts = node.hosts();
    const auto mine = hosts.begin() + node.rank();
    return {.index = static_cast<std::size_t>(std::count(hosts.begin(), mine, *mine)),
            .ranks = static_cast<std::size_t>(std::ranges::count(hosts, *mine))};
}

void take_share_of_host(const Node& node) {
    const PlaceOnHost place = PlaceOnHost::of(node);
    if (place.ranks == 1) return;
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    const std::vector<int> cores = processors_of(allowed);
    const auto of_host = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
    if (cores.size() < of_host) { // bound by the launcher
        if (cores.size() * place.ranks >= of_host) return;
        return log_warning(fmt::format(
            "{} is bound to {} of the {} cores that {} ranks share: mpirun's --bind-to none, or srun's "
            "--cpu-bind=none, lets Headrace divide them",
            node.neighbours().name, cores.size(), of_host, place.ranks));
    }
    const std::size_t begin = place.index * cores.size() / place.ranks,
                      end = std::max(begin + 1, (place.index + 1) * cores.size() / place.ranks);
    cpu_set_t mine;
    CPU_ZERO(&mine);
    for (std::size_t i = begin; i < end; ++i) CPU_SET(cores[i], &mine);
    if (!bind_threads(mine))
        log_warning(node.neighbours().name +
                    " cannot be bound to its cores, and uses those of other ranks too");
}

void keep_share_of_gpus(const PlaceOnHost& place, std::string_view request, DeviceSelection& selection) {
    if (place.ranks == 1) return;
    const auto is_divided = [&](const DeviceInfo& info) {
        return info.kind != DeviceKind::cpu && is_of_many(info, request);
    };
    const auto gpus = static_cast<std::size_t>(std::ranges::count_if(
        selection.devices, [&](const auto& device) { return is_divided(device->info()); }));
    const bool has_only_gpus = gpus == selection.devices.size();
    const auto is_mine = [&](std::size_t gpu) {
        if (gpus < place.ranks && has_only_gpus) return gpu == place.index % gpus;
        return gpu % place.ranks == place.index;
    };
    std::size_t gpu = 0;
    for (std::size_t i = 0; i < selection.devices.size();) {
        const DeviceInfo info = selection.devices[i]->info();
        if (!is_divided(info) || is_mine(gpu++)) {
            ++i;
            continue;
        }
        selection.left_out.push_back({info.id, info.name, "another rank of this host has it"});
        selection.devices.erase(selection.devices.begin() + static_cast<std::ptrdiff_t>(i));
        selection.controllers.erase(selection.controllers.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

} // namespace headrace::cluster
