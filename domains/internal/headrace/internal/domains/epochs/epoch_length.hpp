// internal/domains/epochs/epoch_length.hpp - how many work units the next epoch has. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>

#include <cstdint>
#include <limits>

namespace headrace::epochs {

/// A state machine of values: it knows no clock.
class HEADRACE_EXPORT EpochLength {
public:
    struct Wishes {
        double seconds = 2; ///< of an epoch
        double most_seconds = std::numeric_limits<double>::infinity();
        double commit_share = 0.02;                        ///< of the time that commits may take
        std::uint64_t most_units = std::uint64_t{1} << 62; ///< or a grain, if that is more
        std::uint64_t grain = 1; ///< epochs end at multiples of it, but for the last
    };
    EpochLength(const Wishes& wishes, std::uint64_t all_units);

    /// An epoch of so many units took so long; then its commit.
    void measured(std::uint64_t units, double seconds, double commit_seconds);
    /// Units of the next epoch, if so many are left, and it may take so long: from 1 to all of them.
    [[nodiscard]] std::uint64_t next(std::uint64_t left,
                                     double seconds = std::numeric_limits<double>::infinity()) const;

private:
    [[nodiscard]] double most_under_limit(double seconds) const;

    Wishes wishes_;
    std::uint64_t next_;
    double rate_ = 0; ///< units per second of the last epoch with its commit; 0: none was measured
    double last_seconds_ = 0;
};

} // namespace headrace::epochs
