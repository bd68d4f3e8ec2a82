// bench/device_set.cpp - see device_set.hpp.
#include "device_set.hpp"
#include "slowed_device.hpp"

#include <headrace/devices/discovery.hpp>

#include <sstream>

namespace bench {

std::pair<std::string, double> slowness(const std::string& member) {
    const auto star = member.find('*');
    if (star == std::string::npos) return {member, 1};
    return {member.substr(0, star), std::stod(member.substr(star + 1))};
}

std::vector<std::string> members(const std::string& set) {
    std::vector<std::string> members;
    std::istringstream stream(set);
    for (std::string one; std::getline(stream, one, ',');) members.push_back(one);
    return members;
}

std::vector<std::unique_ptr<headrace::Device>> open_set(const std::string& set) {
    if (set.find('*') == std::string::npos) return headrace::select_devices(set).devices;
    std::vector<std::unique_ptr<headrace::Device>> devices;
    for (const std::string& member : members(set)) {
        const auto [id, times] = slowness(member);
        auto found = headrace::select_devices(id).devices;
        if (times > 1)
            devices.push_back(std::make_unique<SlowedDevice>(std::move(found.at(0)), times));
        else
            devices.push_back(std::move(found.at(0)));
    }
    return devices;
}

} // namespace bench
