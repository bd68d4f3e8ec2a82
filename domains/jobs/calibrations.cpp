// domains/jobs/calibrations.cpp - see calibrations.hpp.
#include <headrace/core/cache_folder.hpp>
#include <headrace/core/error.hpp>
#include <headrace/core/log.hpp>
#include <headrace/domains/calibrations.hpp>
#include <headrace/internal/core/file_lock.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

namespace headrace {
namespace {

using Entry = Calibrations::Entry;
constexpr int version = 2;
constexpr double near = 16; // times as large or small
constexpr double nearly = 2;
constexpr std::size_t several = 3;
constexpr double agreement = 1.5; // limit of the factor between a measurement and the median
constexpr std::chrono::days recently{7};

bool is_usable(double measurement) { return std::isfinite(measurement) && measurement > 0; }

nlohmann::json to_json(const Entry& entry) {
    return {{"machine", entry.machine},
            {"device", entry.device},
            {"driver", entry.driver},
            {"kernel", entry.kernel},
            {"work_units", entry.work_units},
            {"bytes", entry.bytes},
            {entry.whole ? "seconds" : "units_per_second", entry.measurements},
            {"when", entry.when}};
}

/// Throws the errors of the JSON library.
Entry to_entry(const nlohmann::json& json) {
    // A reference, because a conversion makes an integer of any number (1e300, -1).
    const auto whole = [&](const char* key) { return json.at(key).get_ref<const std::uint64_t&>(); };
    Entry entry;
    entry.machine = json.at("machine");
    entry.device = json.at("device");
    entry.driver = json.at("driver");
    entry.kernel = json.at("kernel");
    entry.work_units = whole("work_units");
    entry.bytes = whole("bytes");
    constexpr std::uint64_t last = std::numeric_limits<std::int64_t>::max();
    entry.when = static_cast<std::int64_t>(std::min(whole("when"), last));
    entry.whole = json.contains("seconds");
    entry.measurements = json.at(entry.whole ? "seconds" : "units_per_second").get<std::vector<double>>();
    std::erase_if(entry.measurements, [](double one) { return !is_usable(one); });
    return entry;
}

/// A file that we did not make, or may not read.
struct NotOurs : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Empty if there is no such file. Throws NotOurs, or the error in its contents.
std::vector<Entry> read(const std::filesystem::path& file) {
    std::error_code unknown;
    const auto status = std::filesystem::status(file, unknown);
    if (status.type() == std::filesystem::file_type::none) throw NotOurs(unknown.message());
    if (!std::filesystem::exists(status)) return {};
    if (!std::filesystem::is_regular_file(status)) throw NotOurs("it is no file");
    std::ifstream stream(file);
    if (!stream) throw NotOurs("it may not be read");
    const auto json = nlohmann::json::parse(stream);
    if (json.at("version") != version)
        throw Error{ErrorKind::unsupported, "it is of another version of Headrace"};
    std::vector<Entry> entries;
    for (const auto& one : json.at("entries"))
        if (Entry entry = to_entry(one); !entry.measurements.empty()) entries.push_back(std::move(entry));
    return entries;
}

/// The same, but a file with invalid contents is renamed.
std::vector<Entry> read_or_put_aside(const std::filesystem::path& file) {
    try {
        return read(file);
    } catch (const NotOurs&) {
        throw;
    } catch (const std::exception&) { // it was reported at the first read
        const std::filesystem::path aside = file.string() + ".unreadable";
        std::error_code failed;
        std::filesystem::rename(file, aside, failed);
        if (!failed) log_warning("calibrations that cannot be read are kept in " + aside.string());
        return {};
    }
}

/// The time now, in seconds since 1970.
std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

void merge(Calibrations::Entries& entries, const Entry& fresh) {
    std::vector<Entry>& of_kernel = entries[fresh.kernel];
    const auto known =
        std::ranges::find_if(of_kernel, [&](const Entry& entry) { return entry.is_like(fresh); });
    if (known == of_kernel.end()) {
        const auto is_ours = [&](const Entry& one) { return one.machine == fresh.machine; };
        if (std::cmp_equal(std::ranges::count_if(of_kernel, is_ours), Calibrations::most_of_kernel))
            of_kernel.erase(std::ranges::min_element(
                of_kernel, {}, [&](const Entry& one) { return std::pair(!is_ours(one), one.when); }));
        of_kernel.push_back(fresh);
        return;
    }
    auto& all = known->measurements;
    all.insert(all.end(), fresh.measurements.begin(), fresh.measurements.end());
    if (all.size() > Calibrations::most_measurements)
        all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(Calibrations::most_measurements));
    known->when = std::min(std::max(known->when, fresh.when), now()); // clocks may have been wrong
}

} // namespace

double Entry::median() const {
    std::vector<double> sorted = measurements;
    std::ranges::sort(sorted);
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted.at(middle)
                                  : std::midpoint(sorted.at(middle - 1), sorted.at(middle));
}

double Entry::spread() const {
    const auto [least, most] = std::ranges::minmax(measurements);
    return (most - least) / median();
}

bool Entry::is_recent() const {
    return age() <= recently && age() >= std::chrono::seconds(0); // clocks may be wrong
}

bool Entry::is_certain() const {
    std::vector<double> sorted = measurements;
    std::ranges::sort(sorted);
    const double middle =
        sorted.at(sorted.size() / 2); // one of the values: two clusters have none between them
    const auto outliers = std::ranges::count_if(
        measurements, [middle](double one) { return one > agreement * middle || middle > agreement * one; });
    return is_recent() && measurements.size() >= several &&
           static_cast<std::size_t>(outliers) <= measurements.size() / 5;
}

std::chrono::seconds Entry::age() const { return std::chrono::seconds(now() - when); }

bool Entry::is_of_same(const Entry& other) const {
    return machine == other.machine && device == other.device && driver == other.driver &&
           kernel == other.kernel && whole == other.whole;
}

bool Entry::is_like(const Entry& other) const {
    return is_of_same(other) && work_units == other.work_units && bytes == other.bytes;
}

Calibrations::Calibrations(std::filesystem::path file, std::string machine, unsigned threads)
    : file_(std::move(file)), machine_(std::move(machine)), threads_(threads), is_kept_(!file_.empty()) {
    std::string other_machine;
    try {
        for (const Entry& entry : read(file_))
            if (entry.machine == machine_)
                merge(known_, entry);
            else
                other_machine = entry.machine;
    } catch (const NotOurs& error) {
        is_kept_ = false;
        log_warning(
            fmt::format("calibrations are not kept: {} is not used, since {}", file_.string(), error.what()));
    } catch (const std::exception& error) {
        log_warning(
            fmt::format("calibrations in {} cannot be read ({}): begun anew", file_.string(), error.what()));
    }
    if (known_.empty() && !other_machine.empty())
        log_info("calibrations in " + file_.string() + " are of another machine (" + other_machine +
                 "): this one (" + machine_ + ") begins without");
}

Calibrations::~Calibrations() { save(); }

std::filesystem::path Calibrations::file_of_user() {
    if (const char* file = std::getenv("HEADRACE_CALIBRATIONS")) return file;
    const std::filesystem::path folder = cache_folder();
    return folder.empty() ? folder : folder / "calibrations.json";
}

std::string Calibrations::this_machine() {
    std::ifstream cpus("/proc/cpuinfo");
    std::string name = "processor";
    for (std::string line; std::getline(cpus, line);)
        if (line.starts_with("model name")) {
            if (const auto colon = line.find(": "); colon != line.npos) name = line.substr(colon + 2);
            break;
        }
    return name + ", " + std::to_string(std::thread::hardware_concurrency()) + " threads";
}

Estimate Calibrations::estimate(const DeviceInfo& device, const KernelKey& kernel) const {
    const std::scoped_lock lock(mutex_);
    Estimate estimate = PerformanceModel::estimate(device, kernel);
    const Entry wanted = entry_of(device, kernel);
    double nearest = near * near;
    for (const Entry& entry : known_of(kernel.kernel)) {
        if (!entry.is_of_same(wanted)) continue;
        const double units = size_ratio(entry.work_units, kernel.work_units);
        const double bytes = size_ratio(entry.bytes, kernel.bytes);
        if (units > near || bytes > near || units * bytes >= nearest) continue;
        nearest = units * bytes;
        estimate.units_per_second = entry.median();
        estimate.certain = units <= nearly && bytes <= nearly && entry.is_certain();
    }
    return estimate;
}

void Calibrations::measured(const DeviceInfo& device, const KernelKey& kernel, double units_per_second) {
    Entry entry = entry_of(device, kernel);
    entry.measurements = {units_per_second};
    add(entry);
}

void Calibrations::took(std::span<const DeviceInfo* const> devices, const KernelKey& kernel, double seconds) {
    Entry entry = entry_of(devices, kernel);
    entry.measurements = {seconds};
    add(entry);
}

std::optional<WholeJobs> Calibrations::whole_jobs(std::span<const DeviceInfo* const> devices,
                                                  const KernelKey& kernel) const {
    const std::scoped_lock lock(mutex_);
    const Entry wanted = entry_of(devices, kernel);
    const std::vector<Entry>& of_kernel = known_of(kernel.kernel);
    const auto known = std::ranges::find_if(of_kernel, [&](const Entry& one) { return one.is_like(wanted); });
    if (known == of_kernel.end()) return std::nullopt;
    return WholeJobs{.seconds = known->median(),
                     .jobs = known->is_recent() ? known->measurements.size() : 0,
                     .last = known->measurements.back(),
                     .seconds_ago = static_cast<double>(known->age().count())};
}

/// The name of a device in the file. A processor's name includes its approximate share of the machine's
/// hardware threads: "Xeon / 2" is about a half. Approximate, since programs leave one or two cores unused.
std::string Calibrations::name_of(const DeviceInfo& device) const {
    if (device.kind != DeviceKind::cpu || device.compute_units == 0) return device.name;
    const double times_as_many = static_cast<double>(threads_) / device.compute_units;
    const auto halvings = std::lround(std::log2(std::max(1.0, times_as_many)));
    return halvings == 0 ? device.name : fmt::format("{} / {}", device.name, 1u << halvings);
}

Entry Calibrations::entry_of(const DeviceInfo& device, const KernelKey& kernel) const {
    return {.machine = machine_,
            .device = name_of(device),
            .driver = device.driver,
            .kernel = kernel.kernel,
            .work_units = kernel.work_units,
            .bytes = kernel.bytes,
            .whole = false,
            .measurements = {},
            .when = now()};
}

Entry Calibrations::entry_of(std::span<const DeviceInfo* const> devices, const KernelKey& kernel) const {
    Entry entry = entry_of(*devices.front(), kernel);
    entry.whole = true;
    if (devices.size() == 1) return entry;
    // Sorted: independent of the order in which the caller lists the devices.
    std::vector<std::pair<std::string, std::string>> names;
    for (const DeviceInfo* const device : devices) names.emplace_back(name_of(*device), device->driver);
    std::ranges::sort(names);
    std::tie(entry.device, entry.driver) = names.front();
    for (const auto& [name, driver] : std::span(names).subspan(1)) {
        entry.device += " + " + name;
        entry.driver += " + " + driver;
    }
    return entry;
}

const std::vector<Entry>& Calibrations::known_of(const std::string& kernel) const {
    static const std::vector<Entry> none;
    const auto known = known_.find(kernel);
    return known == known_.end() ? none : known->second;
}

void Calibrations::add(const Entry& entry) {
    if (!is_usable(entry.measurements.front())) return;
    const std::scoped_lock lock(mutex_);
    merge(known_, entry);
    merge(fresh_, entry);
}

void Calibrations::save() {
    const std::scoped_lock lock(mutex_);
    if (!is_kept_ || fresh_.empty()) return;
    std::error_code failed;
    make_private_folder(file_.parent_path());
    const FileLock alone(file_.string() + ".lock"); // other runtimes of this process use it too
    Entries all;
    try {
        for (const Entry& entry : read_or_put_aside(file_)) // another process may have added entries
            merge(all, entry);
    } catch (const NotOurs& error) {
        log_warning(fmt::format("calibrations cannot be written to {}: {}", file_.string(), error.what()));
        return;
    }
    for (const auto& [kernel, entries] : fresh_)
        for (const Entry& entry : entries) merge(all, entry);
    nlohmann::json json{{"version", version}, {"entries", nlohmann::json::array()}};
    for (const auto& [kernel, entries] : all)
        for (const Entry& entry : entries) json["entries"].push_back(to_json(entry));
    // Writes a draft and renames it: the file under its own name is complete at any time.
    const std::filesystem::path draft = new_file_beside(file_); // empty: then the stream reports an error
    std::ofstream stream(draft);
    stream << json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    stream.close();
    if (stream) std::filesystem::rename(draft, file_, failed);
    if (!stream || failed) {
        log_warning("calibrations cannot be written to " + file_.string());
        std::filesystem::remove(draft, failed);
    }
    fresh_.clear();
}

std::vector<Entry> Calibrations::entries() const {
    const std::scoped_lock lock(mutex_);
    std::vector<Entry> ours;
    for (const auto& [kernel, entries] : known_) ours.insert(ours.end(), entries.begin(), entries.end());
    return ours;
}

} // namespace headrace
