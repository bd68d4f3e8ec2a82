// devices/discovery.cpp - see discovery.hpp.
#include <headrace/devices/discovery.hpp>
#include <headrace/internal/devices/cpu/cpu.hpp>
#include <headrace/internal/devices/cpu/placement.hpp>
#include <headrace/internal/devices/device_list.hpp>
#include <headrace/internal/devices/numa.hpp>
#include <headrace/internal/devices/selection.hpp>
#ifdef HEADRACE_HAS_OPENCL
    #include <headrace/internal/devices/opencl/opencl.hpp>
#endif
#if defined(HEADRACE_HAS_CUDA) || defined(HEADRACE_HAS_HIP)
    #include "simt/simt.hpp"
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <optional>

namespace headrace {
namespace {

/// See expect_streams. As many as a Runtime has, and three more.
std::atomic<unsigned> streams_of_a_device{10};

#ifdef HEADRACE_HAS_CUDA
DeviceCandidates find_cuda() { return find_cuda_devices(streams_of_a_device); }
#endif

struct Technology {
    std::string_view name;
    DeviceCandidates (*find)(); ///< null: not in this build
};

// In the order in which "all" uses them.
constexpr std::array technologies{
    Technology{"cpu", &find_cpu_devices},
#ifdef HEADRACE_HAS_CUDA
    Technology{"cuda", &find_cuda},
#else
    Technology{"cuda", nullptr},
#endif
#ifdef HEADRACE_HAS_HIP
    Technology{"hip", &find_hip_devices},
#else
    Technology{"hip", nullptr},
#endif
#ifdef HEADRACE_HAS_OPENCL
    Technology{"opencl", &find_opencl_devices},
#else
    Technology{"opencl", nullptr},
#endif
};

bool names_technology(std::string_view name, std::string_view technology) {
    return name.substr(0, name.find(':')) == technology;
}

/// True if one of the names may mean this technology. Other technologies are not asked, because a driver
/// takes time to start. A name that fits no technology asks all of them: it is "all", or an error, and the
/// message for that lists all devices.
bool is_wanted(const Technology& technology, std::span<const DeviceRequest> requests) {
    return std::ranges::any_of(requests, [&](const DeviceRequest& request) {
        const std::string& name = request.name;
        return names_technology(name, technology.name) ||
               std::ranges::none_of(technologies,
                                    [&](const Technology& t) { return names_technology(name, t.name); });
    });
}

DeviceCandidates find_candidates(std::span<const DeviceRequest> requests) {
    DeviceCandidates all;
    for (const Technology& technology : technologies) {
        if (!is_wanted(technology, requests)) continue;
        if (!technology.find) {
            all.left_out.push_back({std::string(technology.name), "", "not in this build"});
            continue;
        }
        try {
            DeviceCandidates found = technology.find();
            std::ranges::move(found.devices, std::back_inserter(all.devices));
            std::ranges::move(found.left_out, std::back_inserter(all.left_out));
        } catch (const Error& error) {
            const auto is_named = [&](const DeviceRequest& request) {
                return names_technology(request.name, technology.name);
            };
            if (std::ranges::any_of(requests, is_named)) throw;
            all.left_out.push_back({std::string(technology.name), "", error.what()});
        }
    }
    return all;
}

/// Throws `error` with the place of the request in the file.
[[noreturn]] void refuse(const DeviceRequest& request, const Error& error) {
    throw Error{error.kind(), (request.where.empty() ? "" : request.where + ": ") + error.message()};
}

/// Opens the chosen devices. If several devices use the processor, it divides the cores among them.
class Opening {
public:
    Opening(DeviceCandidates found, std::vector<Choice> choices, std::span<const DeviceRequest> requests)
        : found_(std::move(found)), choices_(std::move(choices)), requests_(requests) {
        const auto uses_processor = [this](bool by_opencl) {
            return std::ranges::any_of(choices_, [&](const Choice& choice) {
                const DeviceInfo& info = info_of(choice);
                return info.physical_id == "cpu" && (info.technology == "opencl") == by_opencl;
            });
        };
        divided_ = uses_processor(true) && uses_processor(false);
    }

    DeviceSelection open_all() {
        place_on_cores();
        for (const Choice& choice : choices_) open_first(choice);
        tell_of_the_rest();
        selection_.left_out.insert(selection_.left_out.begin(), found_.left_out.begin(),
                                   found_.left_out.end());
        return std::move(selection_);
    }

private:
    [[nodiscard]] const DeviceInfo& info_of(const Choice& choice) const {
        return found_.devices[choice.candidates.front()].info;
    }
    [[nodiscard]] const DeviceSettings& settings_of(const Choice& choice) const {
        return requests_[choice.request].settings;
    }

    /// If a file sets cores, assigns cores to all oneTBB devices on the processor: first to the devices with
    /// settings, then to the device that takes the rest.
    void place_on_cores() {
        const auto has_say = [this](const Choice& choice) {
            return settings_of(choice).threads || settings_of(choice).numa;
        };
        const auto is_cpu = [this](const Choice& choice) { return info_of(choice).technology == "cpu"; };
        if (std::ranges::none_of(choices_, [&](const Choice& c) { return is_cpu(c) && has_say(c); })) return;
        topology_ = read_topology();
        for (const bool say : {true, false})
            for (const Choice& choice : choices_) {
                if (!is_cpu(choice) || has_say(choice) != say) continue;
                try {
                    cores_[&choice] = place(*topology_, settings_of(choice), taken_);
                } catch (const Error& error) {
                    refuse(requests_[choice.request], error);
                }
                std::ranges::copy(cores_[&choice], std::back_inserter(taken_));
            }
    }

    void open_first(const Choice& choice) {
        for (const std::size_t i : choice.candidates) {
            const DeviceInfo& info = found_.devices[i].info;
            try {
                selection_.devices.push_back(open(found_.devices[i], choice));
                if (choice.named) selection_.named.push_back(selection_.devices.back()->info().id);
                selection_.controllers.push_back(
                    {.private_copies = settings_of(choice).private_copies.value_or(false)});
                used_.push_back(i);
                return;
            } catch (const Error& error) {
                if (choice.named) throw;
                selection_.left_out.push_back({info.id, info.name, error.what()});
                failed_.push_back(i);
            }
        }
    }

    [[nodiscard]] std::unique_ptr<Device> open(const DeviceCandidate& candidate, const Choice& choice) {
        if (const auto cores = cores_.find(&choice); cores != cores_.end()) {
            const std::string id = processors_ == 0 ? "cpu" : "cpu:" + std::to_string(processors_);
            ++processors_;
            return make_cpu_device(id, cores->second, settings_of(choice).numa);
        }
        if (const auto threads = settings_of(choice).threads) return open_part(candidate, choice, *threads);
        const unsigned cores = candidate.info.compute_units;
        if (candidate.info.physical_id != "cpu" || !candidate.open_part) return candidate.open();
        if (!divided_) {
            const unsigned spare = cores_for_submission(cores);
            return spare > 0 ? candidate.open_part(cores - spare) : candidate.open();
        }
        if (cores < 2) return candidate.open(); // both devices share the core
        if (candidate.info.technology == "opencl" && !taken_.empty()) return open_behind(candidate, choice);
        const unsigned first = cores_beside_opencl(cores);
        return candidate.open_part(candidate.info.technology == "opencl" ? cores - first : first);
    }

    /// The number of cores left free for the host threads that serve GPUs: one for each GPU and one for the
    /// program, at most a quarter of all cores. Otherwise these threads would wait for threads that compute.
    [[nodiscard]] unsigned cores_for_submission(unsigned cores) const {
        const auto is_gpu = [this](const Choice& choice) { return info_of(choice).physical_id != "cpu"; };
        const auto gpus = static_cast<unsigned>(std::ranges::count_if(choices_, is_gpu));
        return gpus == 0 ? 0 : std::min(gpus + 1, cores / 4);
    }

    [[nodiscard]] std::unique_ptr<Device> open_part(const DeviceCandidate& candidate, const Choice& choice,
                                                    unsigned units) const {
        const DeviceRequest& request = requests_[choice.request];
        if (!candidate.open_part)
            refuse(request, Error{ErrorKind::invalid_argument,
                                  "key \"threads\": " + candidate.info.id + " cannot be divided"});
        if (units > candidate.info.compute_units)
            refuse(request,
                   Error{ErrorKind::invalid_argument,
                         "key \"threads\": " + std::to_string(units) + " are asked for, and " +
                             candidate.info.id + " has " + std::to_string(candidate.info.compute_units)});
        return candidate.open_part(units);
    }

    /// Opens an OpenCL device on the processor. Such a device takes a number of cores, counted from the last
    /// core. It gets the cores after the last one that oneTBB has.
    [[nodiscard]] std::unique_ptr<Device> open_behind(const DeviceCandidate& candidate,
                                                      const Choice& choice) const {
        const auto& all = topology_->cores;
        const auto is_free = [this](const Core& core) {
            return std::ranges::none_of(taken_, [&](const Core& taken) {
                return std::ranges::find_first_of(core, taken) != core.end();
            });
        };
        const auto behind = std::ranges::find_if_not(all.rbegin(), all.rend(), is_free) - all.rbegin();
        if (behind == 0)
            refuse(requests_[choice.request],
                   Error{ErrorKind::invalid_argument, "no core is left for " + candidate.info.id +
                                                          " behind those that the cpu devices have"});
        return candidate.open_part(std::min(static_cast<unsigned>(behind), candidate.info.compute_units));
    }

    void tell_of_the_rest() {
        for (std::size_t i = 0; i < found_.devices.size(); ++i) {
            if (std::ranges::find(used_, i) != used_.end() || std::ranges::find(failed_, i) != failed_.end())
                continue;
            const DeviceInfo& info = found_.devices[i].info;
            const auto twin = std::ranges::find_if(used_, [&](std::size_t used) {
                return !info.physical_id.empty() && found_.devices[used].info.physical_id == info.physical_id;
            });
            selection_.left_out.push_back({info.id, info.name,
                                           twin == used_.end()
                                               ? "not asked for"
                                               : "the same hardware as " + found_.devices[*twin].info.id +
                                                     ", which is used; name both to use both"});
        }
    }

    DeviceCandidates found_;
    std::vector<Choice> choices_;
    std::span<const DeviceRequest> requests_;
    bool divided_ = false;
    std::optional<CpuTopology> topology_;              // set if a file sets cores
    std::map<const Choice*, std::vector<Core>> cores_; // that the file sets, for each device
    std::vector<Core> taken_;                          // all of those cores
    unsigned processors_ = 0;                          // number of open devices with such cores
    std::vector<std::size_t> used_, failed_;
    DeviceSelection selection_;
};

} // namespace

DeviceSelection select_devices(std::string_view request) {
    const DeviceList list = read_device_list(request);
    if (list.host.numa && !prefer_node(*list.host.numa))
        throw Error{ErrorKind::invalid_argument, list.where + ": host memory cannot come from NUMA node " +
                                                     std::to_string(*list.host.numa)};
    const std::span<const DeviceRequest> requests = list.devices;
    DeviceCandidates found = find_candidates(requests);
    std::vector<Choice> choices;
    try {
        choices = choose(found, requests);
    } catch (const Error&) {
        // Search again in all technologies: the message must list all devices.
        found = find_candidates(std::array{DeviceRequest{"all"}});
        choices = choose(found, requests);
    }
    DeviceSelection selection = Opening(std::move(found), std::move(choices), requests).open_all();
    selection.by_default = list.by_default;
    if (selection.devices.empty())
        throw Error{ErrorKind::device, "no device starts: " + reasons(selection.left_out)};
    return selection;
}

void expect_streams(unsigned streams) noexcept { streams_of_a_device = streams; }

} // namespace headrace
