// domains/calibrations.hpp - what jobs measured, kept on disk for the next ones.
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

/// The calibrated performance model: for each kernel on each device what the last jobs measured, and how long
/// whole jobs took on which devices.
///
/// An estimate is the median of the last nine measurements, so one that went wrong does not count, and some
/// that did are forgotten. It is certain, for problems up to twice as large or small, if there are at least
/// three, all (of five or more, all but one) within a factor of 1.5 of their median, and the last one not
/// older than a week: who is left out for being slow is measured again after that. A measurement counts for
/// problems of about its size: the nearest one, up to sixteen times as large or small. What is no positive
/// number is not taken, from jobs or from the file.
///
/// Half of a processor, or less, is another device than the whole of it.
///
/// The file holds what several machines measured, and each reads its own. One whose contents make no sense is
/// begun anew, with a warning, and kept under another name when there is something to be written; what is no
/// file, or may not be read, is left alone, and nothing is kept. One that cannot be written costs a warning,
/// too.
///
/// Threads   any; several processes may use one file: each adds what it has measured
class HEADRACE_EXPORT Calibrations final : public PerformanceModel {
public:
    static constexpr std::size_t most_measurements = 9;
    /// Entries of each kernel on a machine, the last ones that were measured: problems times devices, and
    /// sets of them. Simulations whose problems grow would fill the file.
    static constexpr std::size_t most_of_kernel = 256;

    struct HEADRACE_EXPORT Entry {
        std::string machine, device, driver, kernel;
        std::uint64_t work_units = 0;
        Bytes bytes = 0;
        /// They are seconds of a whole job on this device, or those of a list; else units per second.
        bool whole = false;
        std::vector<double> measurements;
        std::int64_t when = 0; ///< of the last one, seconds since 1970

        [[nodiscard]] double median() const;
        /// (largest - smallest) / median
        [[nodiscard]] double spread() const;
        [[nodiscard]] std::chrono::seconds age() const;
        /// The last one is at most a week old.
        [[nodiscard]] bool is_recent() const;
        /// Several agree, and the last one is recent.
        [[nodiscard]] bool is_certain() const;
        /// Of the same device and kernel, measured in the same way.
        [[nodiscard]] bool is_of_same(const Entry& other) const;
        /// And of a problem of the same size.
        [[nodiscard]] bool is_like(const Entry& other) const;
    };
    /// By kernel: each job asks for its own several times, and there may be thousands.
    using Entries = std::map<std::string, std::vector<Entry>>;

    /// Reads the file. `machine`: whose measurements count; it has so many hardware threads.
    explicit Calibrations(std::filesystem::path file = file_of_user(), std::string machine = this_machine(),
                          unsigned threads = std::thread::hardware_concurrency());
    ~Calibrations() override; // writes what is new

    /// $HEADRACE_CALIBRATIONS, or calibrations.json in headrace's folder of $XDG_CACHE_HOME or ~/.cache;
    /// empty if nobody says where: then nothing is kept.
    [[nodiscard]] static std::filesystem::path file_of_user();
    /// The processor's name and its number of threads.
    [[nodiscard]] static std::string this_machine();

    [[nodiscard]] Estimate estimate(const DeviceInfo& device, const KernelKey& kernel) const override;
    void measured(const DeviceInfo& device, const KernelKey& kernel, double units_per_second) override;
    void took(std::span<const DeviceInfo* const> devices, const KernelKey& kernel, double seconds) override;
    [[nodiscard]] std::optional<WholeJobs> whole_jobs(std::span<const DeviceInfo* const> devices,
                                                      const KernelKey& kernel) const override;

    /// Adds what is new to the file.
    void save();
    [[nodiscard]] std::vector<Entry> entries() const; ///< of this machine
    [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }
    /// False: the file is left alone, or there is none.
    [[nodiscard]] bool is_kept() const noexcept { return is_kept_; }

private:
    void add(const Entry& entry);
    [[nodiscard]] const std::vector<Entry>& known_of(const std::string& kernel) const;
    [[nodiscard]] std::string name_of(const DeviceInfo& device) const;
    // Without a measurement.
    [[nodiscard]] Entry entry_of(const DeviceInfo& device, const KernelKey& kernel) const;
    [[nodiscard]] Entry entry_of(std::span<const DeviceInfo* const> devices, const KernelKey& kernel) const;

    const std::filesystem::path file_;
    const std::string machine_;
    const unsigned threads_;
    bool is_kept_;
    mutable std::mutex mutex_;
    Entries known_; ///< of this machine, with what is new
    Entries fresh_; ///< not in the file yet
};

} // namespace headrace
