// core/policy.cpp - see policy.hpp.
#include <headrace/core/error.hpp>
#include <headrace/core/policy.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

namespace headrace {

namespace {

/// "20"; nothing where no parameter is given.
std::optional<std::uint64_t> to_number(std::string_view policy, std::string_view text) {
    if (text.empty()) return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size())
        throw Error{ErrorKind::invalid_argument, "policy '" + std::string(policy) + "': '" +
                                                     std::string(text) +
                                                     "' is not a whole number; write it like 'demand:20'"};
    return number;
}

std::unique_ptr<Policy> make_demand(std::string_view name, std::string_view parameter) {
    return std::make_unique<DemandPolicy>(
        to_number(name, parameter).value_or(DemandPolicy::default_divisions));
}

struct KnownPolicy {
    std::string_view name;
    std::unique_ptr<Policy> (*make)(std::string_view name, std::string_view parameter);
};
constexpr KnownPolicy known_policies[] = {{"demand", make_demand}};

} // namespace

DemandPolicy::DemandPolicy(std::uint64_t divisions) : divisions_(divisions) {
    if (divisions == 0)
        throw Error{ErrorKind::invalid_argument, "policy 'demand' divides the work into at least 1 part"};
}

std::uint64_t DemandPolicy::next(std::size_t device, const Progress& progress) {
    const double mine = progress.capability[device];
    if (progress.remaining == 0 || mine <= 0) return 0;
    double best_other = 0, others = 0;
    for (std::size_t i = 0; i < progress.capability.size(); ++i) {
        if (i == device) continue;
        best_other = std::max(best_other, progress.capability[i]);
        others += std::max(0.0, progress.capability[i]);
    }

    const auto remaining = static_cast<double>(progress.remaining);
    const double wanted = static_cast<double>(progress.total) / static_cast<double>(divisions_) * mine /
                          std::max(mine, best_other);
    if (wanted < 1 && best_other > 0) {
        const double without_me = std::max(remaining / others, 1 / best_other);
        if (1 / mine > without_me) return 0;
    }
    // A relative 1e-12: 1000 / 10 x 0.3 / 1.0 must come out as 30 and not as 29.
    const double units = std::clamp(std::floor(wanted * (1 + 1e-12)), 1.0, remaining);
    return units < remaining ? static_cast<std::uint64_t>(units) : progress.remaining;
}

std::unique_ptr<Policy> make_policy(std::string_view name) {
    const auto colon = std::min(name.find(':'), name.size());
    const std::string_view base = name.substr(0, colon);
    const std::string_view parameter = colon < name.size() ? name.substr(colon + 1) : std::string_view{};
    std::string known;
    for (const KnownPolicy& policy : known_policies) {
        if (policy.name == base) return policy.make(base, parameter);
        known.append(known.empty() ? "" : ", ").append(policy.name);
    }
    throw Error{ErrorKind::not_found, "there is no policy '" + std::string(name) + "'; there is " + known};
}

} // namespace headrace
