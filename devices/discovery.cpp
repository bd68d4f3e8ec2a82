// devices/discovery.cpp - see discovery.hpp.
#include <headrace/devices/cpu/cpu.hpp>
#include <headrace/devices/device_list.hpp>
#include <headrace/devices/discovery.hpp>
#include <headrace/devices/selection.hpp>
#ifdef HEADRACE_HAS_OPENCL
    #include <headrace/devices/opencl/opencl.hpp>
#endif
#if defined(HEADRACE_HAS_CUDA) || defined(HEADRACE_HAS_HIP)
    #include <headrace/devices/simt/simt.hpp>
#endif

#include <algorithm>
#include <array>

namespace headrace {
namespace {

struct Technology {
    std::string_view name;
    DeviceCandidates (*find)(); ///< null: not in this build
};

// The order in which "all" uses them.
constexpr std::array technologies{
    Technology{"cpu", &find_cpu_devices},
#ifdef HEADRACE_HAS_CUDA
    Technology{"cuda", &find_cuda_devices},
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

/// Asks the technologies that the names may mean, no others: starting a driver takes a moment. A name that
/// means none is a mistake, and what is there will be listed, so then all are asked.
bool is_wanted(const Technology& technology, std::span<const std::string> names) {
    return std::ranges::any_of(names, [&](const std::string& name) {
        return names_technology(name, technology.name) ||
               std::ranges::none_of(technologies,
                                    [&](const Technology& t) { return names_technology(name, t.name); });
    });
}

DeviceCandidates find_candidates(std::span<const std::string> names) {
    DeviceCandidates all;
    for (const Technology& technology : technologies) {
        if (!is_wanted(technology, names)) continue;
        if (!technology.find) {
            all.left_out.push_back({std::string(technology.name), "", "not in this build"});
            continue;
        }
        try {
            DeviceCandidates found = technology.find();
            std::ranges::move(found.devices, std::back_inserter(all.devices));
            std::ranges::move(found.left_out, std::back_inserter(all.left_out));
        } catch (const Error& error) {
            const auto is_named = [&](const std::string& name) {
                return names_technology(name, technology.name);
            };
            if (std::ranges::any_of(names, is_named)) throw;
            all.left_out.push_back({std::string(technology.name), "", error.what()});
        }
    }
    return all;
}

/// Opens what was chosen; the cores of the processor are divided if two technologies are to use them.
class Opening {
public:
    Opening(DeviceCandidates found, std::vector<Choice> choices)
        : found_(std::move(found)), choices_(std::move(choices)) {
        const auto uses_processor = [this](bool by_opencl) {
            return std::ranges::any_of(choices_, [&](const Choice& choice) {
                const DeviceInfo& info = found_.devices[choice.candidates.front()].info;
                return info.physical_id == "cpu" && (info.technology == "opencl") == by_opencl;
            });
        };
        divided_ = uses_processor(true) && uses_processor(false);
    }

    DeviceSelection open_all() {
        for (const Choice& choice : choices_) open_first(choice);
        tell_of_the_rest();
        selection_.left_out.insert(selection_.left_out.begin(), found_.left_out.begin(),
                                   found_.left_out.end());
        return std::move(selection_);
    }

private:
    void open_first(const Choice& choice) {
        for (const std::size_t i : choice.candidates) {
            const DeviceInfo& info = found_.devices[i].info;
            try {
                selection_.devices.push_back(open(found_.devices[i]));
                used_.push_back(i);
                return;
            } catch (const Error& error) {
                if (choice.named) throw;
                selection_.left_out.push_back({info.id, info.name, error.what()});
                failed_.push_back(i);
            }
        }
    }

    [[nodiscard]] std::unique_ptr<Device> open(const DeviceCandidate& candidate) const {
        const unsigned cores = candidate.info.compute_units;
        // On one core the two share it.
        if (!divided_ || candidate.info.physical_id != "cpu" || !candidate.open_part || cores < 2)
            return candidate.open();
        const unsigned first = cores_beside_opencl(cores);
        return candidate.open_part(candidate.info.technology == "opencl" ? cores - first : first);
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
    bool divided_ = false;
    std::vector<std::size_t> used_, failed_;
    DeviceSelection selection_;
};

} // namespace

DeviceSelection select_devices(std::string_view request) {
    const std::vector<std::string> names = read_device_list(request);
    DeviceCandidates found = find_candidates(names);
    std::vector<Choice> choices;
    try {
        choices = choose(found, names);
    } catch (const Error&) {
        // Once more among everything: the message shall list all that is there.
        found = find_candidates(std::array{std::string("all")});
        choices = choose(found, names);
    }
    DeviceSelection selection = Opening(std::move(found), std::move(choices)).open_all();
    if (selection.devices.empty()) {
        std::string why;
        for (const LeftOut& out : selection.left_out)
            why += (why.empty() ? "" : "; ") + out.id + ": " + out.why;
        throw Error{ErrorKind::device, "no device starts: " + why};
    }
    return selection;
}

} // namespace headrace
