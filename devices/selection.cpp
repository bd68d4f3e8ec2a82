// devices/selection.cpp - see selection.hpp.
#include <headrace/internal/devices/selection.hpp>

#include <algorithm>

namespace headrace {
namespace {

/// OpenCL comes last: CUDA and HIP know more about their GPUs, and oneTBB works in place.
int rank(const DeviceCandidate& candidate) { return candidate.info.technology == "opencl" ? 1 : 0; }

bool answers_to(const DeviceCandidate& candidate, std::string_view name) {
    return name == "all" || name == candidate.info.technology || name == candidate.info.id ||
           std::ranges::find(candidate.aliases, name) != candidate.aliases.end();
}

std::string what_is_there(const DeviceCandidates& found) {
    std::string text = "there are:";
    for (const DeviceCandidate& candidate : found.devices)
        text += " " + candidate.info.id + " (" + candidate.info.name + ")";
    if (found.devices.empty()) text = "there is no device at all";
    if (!found.left_out.empty()) text += "; " + reasons(found.left_out);
    return text;
}

/// The devices that one name means: each piece of hardware once, with all its views, the preferred view
/// first.
std::vector<std::vector<std::size_t>> group_by_silicon(const DeviceCandidates& found, std::string_view name) {
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < found.devices.size(); ++i) {
        if (!answers_to(found.devices[i], name)) continue;
        const std::string& silicon = found.devices[i].info.physical_id;
        const auto same = std::ranges::find_if(groups, [&](const auto& group) {
            return !silicon.empty() && found.devices[group.front()].info.physical_id == silicon;
        });
        if (same == groups.end())
            groups.push_back({i});
        else
            same->push_back(i);
    }
    for (auto& group : groups)
        std::ranges::stable_sort(group, {}, [&](std::size_t i) { return rank(found.devices[i]); });
    return groups;
}

} // namespace

std::vector<Choice> choose(const DeviceCandidates& found, std::span<const DeviceRequest> requests) {
    const auto says_which_cores = [&](std::size_t request) {
        return requests[request].settings.threads || requests[request].settings.numa;
    };
    std::vector<Choice> choices;
    for (std::size_t number = 0; number < requests.size(); ++number) {
        const std::string &name = requests[number].name, &where = requests[number].where;
        const auto groups = group_by_silicon(found, name);
        if (groups.empty())
            throw Error{ErrorKind::not_found, (where.empty() ? "" : where + ": ") +
                                                  "no device answers to \"" + name + "\"; " +
                                                  what_is_there(found)};
        for (const auto& group : groups) {
            const bool named = name != "all";
            // Cores that a file sets make a separate device: for example one for each of two NUMA nodes, and
            // one more that takes the rest.
            const bool is_cpu = found.devices[group.front()].info.technology == "cpu";
            const auto chosen = std::ranges::find_if(choices, [&](const Choice& choice) {
                if (is_cpu && says_which_cores(choice.request)) return false;
                // A device's own name selects it even if another view is used; "all" accepts any view.
                return named ? choice.candidates.front() == group.front()
                             : std::ranges::find(group, choice.candidates.front()) != group.end();
            });
            if (chosen == choices.end() || (is_cpu && says_which_cores(number)))
                choices.push_back({named ? std::vector{group.front()} : group, named, number});
            else if (named && (says_which_cores(number) || !says_which_cores(chosen->request)))
                *chosen = {{group.front()}, true, number};
        }
    }
    return choices;
}

} // namespace headrace
