// domains/calibrations.hpp - measurements of jobs, kept on disk for later jobs.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/performance_model.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace headrace {

/// The calibrated performance model: the last measurements of each kernel on each device, and the times of
/// whole jobs on sets of devices.
///
/// An estimate is the median of the last 9 measurements: one wrong value does not count, and old values
/// go. It is certain if three things hold. The problem is at most twice as large or small. At least 3
/// values, all (of 5 or more, all but one), are within a factor of 1.5 of their median. The last one is
/// at most a week old: an excluded slow device is measured again after that. An estimate uses the
/// problem of nearest size, at most 16 times as large or small. Values that are not positive numbers are
/// ignored.
///
/// Half of a processor, or less, counts as a different device from the whole processor.
///
/// The file holds measurements of several machines; each machine reads its own. If the contents are invalid,
/// the model starts empty, with a warning; the next save keeps the old file under another name. If it is no
/// regular file or may not be read, it is left alone and nothing is kept. If it cannot be written, a warning
/// follows.
///
/// Threads   any; several processes may use one file: each adds its own measurements
class HEADRACE_EXPORT Calibrations final : public PerformanceModel {
public:
    static constexpr std::size_t most_measurements = 9;
    /// Limit of entries for each kernel on a machine (problems x devices, and sets of devices); the latest
    /// stay. Without it, simulations with growing problems would fill the file.
    static constexpr std::size_t most_of_kernel = 256;

    struct HEADRACE_EXPORT Entry {
        std::string machine, device, driver, kernel;
        std::uint64_t work_units = 0;
        Bytes bytes = 0;
        /// True: seconds of a whole job on this device or list of devices. False: units per second.
        bool whole = false;
        std::vector<double> measurements;
        std::int64_t when = 0; ///< of the last one, seconds since 1970

        [[nodiscard]] double median() const;
        /// (largest - smallest) / median
        [[nodiscard]] double spread() const;
        [[nodiscard]] std::chrono::seconds age() const;
        /// The last measurement is at most a week old.
        [[nodiscard]] bool is_recent() const;
        /// Several measurements agree, and the last one is recent.
        [[nodiscard]] bool is_certain() const;
        /// Of the same device and kernel, measured in the same way.
        [[nodiscard]] bool is_of_same(const Entry& other) const;
        /// The same, and of a problem of the same size.
        [[nodiscard]] bool is_like(const Entry& other) const;
    };
    /// By kernel, because each job looks up its own kernel several times, and there may be thousands.
    using Entries = std::map<std::string, std::vector<Entry>>;

    /// Reads the file, and uses the entries of `machine`, which has `threads` hardware threads.
    explicit Calibrations(std::filesystem::path file = file_of_user(), std::string machine = this_machine(),
                          unsigned threads = std::thread::hardware_concurrency());
    ~Calibrations() override; // writes new measurements to the file

    /// $HEADRACE_CALIBRATIONS, or calibrations.json in headrace's folder of $XDG_CACHE_HOME or ~/.cache.
    /// Empty if none of these is set: then nothing is kept.
    [[nodiscard]] static std::filesystem::path file_of_user();
    /// The processor's name and its number of threads.
    [[nodiscard]] static std::string this_machine();

    [[nodiscard]] Estimate estimate(const DeviceInfo& device, const KernelKey& kernel) const override;
    void measured(const DeviceInfo& device, const KernelKey& kernel, double units_per_second) override;
    void took(std::span<const DeviceInfo* const> devices, const KernelKey& kernel, double seconds) override;
    [[nodiscard]] std::optional<WholeJobs> whole_jobs(std::span<const DeviceInfo* const> devices,
                                                      const KernelKey& kernel) const override;

    /// Adds new measurements to the file.
    void save();
    [[nodiscard]] std::vector<Entry> entries() const; ///< of this machine
    [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }
    /// False: there is no file, or it is left alone.
    [[nodiscard]] bool is_kept() const noexcept { return is_kept_; }

private:
    void add(const Entry& entry);
    [[nodiscard]] const std::vector<Entry>& known_of(const std::string& kernel) const;
    [[nodiscard]] std::string name_of(const DeviceInfo& device) const;
    // An entry without a measurement.
    [[nodiscard]] Entry entry_of(const DeviceInfo& device, const KernelKey& kernel) const;
    [[nodiscard]] Entry entry_of(std::span<const DeviceInfo* const> devices, const KernelKey& kernel) const;

    const std::filesystem::path file_;
    const std::string machine_;
    const unsigned threads_;
    bool is_kept_;
    mutable std::mutex mutex_;
    Entries known_; ///< of this machine, new ones included
    Entries fresh_; ///< not in the file yet
};

} // namespace headrace
