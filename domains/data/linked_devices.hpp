// domains/data/linked_devices.hpp - groups of devices that can work with what the others' memories hold.
// Internal to domains/.
#pragma once
#include <headrace/core/device.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace headrace {

/// Two devices are linked if each adds and takes changes from the other one's memory.
class LinkedDevices {
public:
    /// Returns the number of its group: the first one of which it is linked with every member, or else a new
    /// one, the next number.
    std::size_t add(const Device& device) {
        const auto group = std::ranges::find_if(groups_, [&](const Group& members) {
            return std::ranges::all_of(members, [&](const Device* member) {
                return member->adds_from(device) && device.adds_from(*member);
            });
        });
        const auto number = static_cast<std::size_t>(group - groups_.begin());
        if (group == groups_.end()) groups_.emplace_back();
        groups_[number].push_back(&device);
        return number;
    }

private:
    using Group = std::vector<const Device*>;
    std::vector<Group> groups_;
};

} // namespace headrace
