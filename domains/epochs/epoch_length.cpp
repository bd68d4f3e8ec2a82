// domains/epochs/epoch_length.cpp - see epoch_length.hpp.
#include <headrace/internal/domains/epochs/epoch_length.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headrace::epochs {
namespace {

/// The first epoch measures. A unit may take a nanosecond or a second.
constexpr std::uint64_t most_first_units = 1 << 14, first_part = 1000;
constexpr double most_growth = 8; ///< from one epoch to the next: a short one measures badly
/// The next epoch may be slower than the last one. So it takes a part of the time that is left, and another
/// one may follow, until so little is left that it is not worth the commit.
constexpr double careful_part = 0.75, least_seconds = 0.1;
/// If hardly more is left than the next epoch has, it takes all.
constexpr double rest = 1.25;

} // namespace

EpochLength::EpochLength(const Wishes& wishes, std::uint64_t all_units)
    : wishes_(wishes), next_(std::clamp<std::uint64_t>(all_units / first_part, 1, most_first_units)) {}

void EpochLength::measured(std::uint64_t units, double seconds, double commit_seconds) {
    const double wanted =
        std::min(std::max(wishes_.seconds, commit_seconds / wishes_.commit_share), wishes_.most_seconds);
    const double factor = seconds > 0 ? std::min(wanted / seconds, most_growth) : most_growth;
    const double all_seconds = seconds + commit_seconds;
    last_seconds_ = all_seconds;
    rate_ = all_seconds > 0 ? static_cast<double>(units) / all_seconds : 0;
    constexpr double most = 0x1p62;
    next_ = static_cast<std::uint64_t>(std::clamp(static_cast<double>(units) * factor, 1.0, most));
}

/// A short epoch says little of one that is 8 times as long, whose end nothing brings forward.
double EpochLength::most_under_limit(double seconds) const {
    constexpr double short_part = 0.05, growth = 2;
    return last_seconds_ > short_part * seconds ? growth * rate_ * last_seconds_
                                                : std::numeric_limits<double>::infinity();
}

std::uint64_t EpochLength::next(std::uint64_t left, double seconds) const {
    double wanted = static_cast<double>(std::clamp<std::uint64_t>(next_, 1, wishes_.most_units));
    const double aimed = seconds > least_seconds ? seconds * careful_part : seconds;
    if (rate_ > 0) wanted = std::min({wanted, std::max(rate_ * aimed, 1.0), most_under_limit(seconds)});
    std::uint64_t whole_grains = (static_cast<std::uint64_t>(wanted) - 1) / wishes_.grain + 1;
    whole_grains = std::min(whole_grains, std::max<std::uint64_t>(wishes_.most_units / wishes_.grain, 1));
    const double size = static_cast<double>(whole_grains) * static_cast<double>(wishes_.grain);
    const bool has_time =
        left <= wishes_.most_units &&
        (rate_ == 0 || static_cast<double>(left) <= std::min(rate_ * aimed, most_under_limit(seconds)));
    if (has_time && size * rest >= static_cast<double>(left)) return left;
    return std::min(whole_grains * wishes_.grain, left);
}

} // namespace headrace::epochs
