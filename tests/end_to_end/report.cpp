// The one unit that sees the JSON library.
#include "end_to_end/report.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

namespace headrace::end_to_end {

Report read_report(const std::filesystem::path& file) {
    std::ifstream stream(file);
    const nlohmann::json json = nlohmann::json::parse(stream);
    Report report;
    report.seconds = json.at("seconds");
    for (const auto& device : json.at("devices"))
        report.devices.push_back(
            {device.at("id"), device.at("name"), device.at("kind"), device.at("share"), device.at("tasks")});
    return report;
}

} // namespace headrace::end_to_end
