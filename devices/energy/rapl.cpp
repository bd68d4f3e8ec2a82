// devices/energy/rapl.cpp - see rapl.hpp.
#include <headrace/core/error.hpp>
#include <headrace/internal/devices/energy/rapl.hpp>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>

namespace headrace {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
    throw Error{ErrorKind::io, file.string() + ": " + why};
}

std::string first_line(const fs::path& file) {
    const auto refuse_by_system = [&] {
        std::string why = std::generic_category().message(errno);
        if (errno == EACCES) why += " (on most systems only root may read it)";
        refuse(file, why);
    };
    constexpr auto close = [](std::FILE* stream) { std::fclose(stream); };
    const std::unique_ptr<std::FILE, decltype(close)> stream(std::fopen(file.c_str(), "re"));
    if (!stream) refuse_by_system();
    std::array<char, 128> text{};
    if (!std::fgets(text.data(), text.size(), stream.get())) {
        if (std::ferror(stream.get()) != 0) refuse_by_system();
        refuse(file, "is empty");
    }
    std::string line(text.data());
    if (const auto end = line.find('\n'); end != std::string::npos) line.resize(end);
    return line;
}

std::uint64_t number_in(const fs::path& file) {
    const std::string line = first_line(file);
    std::uint64_t number = 0;
    const char* const end = line.data() + line.size();
    if (const auto [rest, error] = std::from_chars(line.data(), end, number);
        error != std::errc{} || rest != end || line.empty())
        refuse(file, "holds no number");
    return number;
}

/// Zones contain other zones: packages contain cores, "psys" contains packages. Packages and "dram" do not
/// overlap, and only these are counted.
bool is_counted(const fs::path& zone) {
    if (!zone.filename().string().starts_with("intel-rapl:")) return false; // "-mmio" repeats packages
    const std::string name = first_line(zone / "name");
    return name.starts_with("package") || name == "dram";
}

} // namespace

RaplMeter::RaplMeter(const fs::path& folder) {
    try {
        std::error_code absent;
        for (const fs::directory_entry& zone : fs::directory_iterator(folder, absent)) {
            if (!is_counted(zone.path())) continue;
            const fs::path file = zone.path() / "energy_uj";
            counters_.push_back({file, number_in(zone.path() / "max_energy_range_uj"), number_in(file)});
        }
        if (counters_.empty())
            why_absent_ = "the system shows no RAPL counters in " + folder.string() +
                          " (virtual machines and containers often have none)";
    } catch (const Error& error) {
        why_absent_ = error.message();
    }
}

Figure RaplMeter::joules() {
    if (!why_absent_.empty()) return {std::nullopt, why_absent_};
    try {
        for (Counter& counter : counters_) {
            const std::uint64_t now = number_in(counter.file);
            sum_ += now >= counter.last ? now - counter.last : counter.range - counter.last + now;
            counter.last = now;
        }
        return {static_cast<double>(sum_) * 1e-6, {}};
    } catch (const Error& error) {
        return {std::nullopt, error.message()};
    }
}

} // namespace headrace
