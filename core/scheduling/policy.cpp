// core/scheduling/policy.cpp - see policy.hpp.
#include "scheduling/adaptive_policy.hpp"
#include "scheduling/policies.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace headrace {
namespace {

/// Parses a parameter such as "20". Nothing if `text` is empty.
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

/// Makes a policy with the number after the colon, or with its default if there is none.
template <class Numbered>
std::unique_ptr<Policy> make_numbered(std::string_view name, std::string_view parameter) {
    const auto number = to_number(name, parameter);
    return number ? std::make_unique<Numbered>(*number) : std::make_unique<Numbered>();
}

template <class Plain>
std::unique_ptr<Policy> make_plain(std::string_view name, std::string_view parameter) {
    if (!parameter.empty())
        throw Error{ErrorKind::invalid_argument, "policy '" + std::string(name) + "' takes no parameter"};
    return std::make_unique<Plain>();
}

struct KnownPolicy {
    std::string_view name;
    std::string_view parameter; ///< its name in the list of policies, with the colon
    std::unique_ptr<Policy> (*make)(std::string_view name, std::string_view parameter);
};
constexpr KnownPolicy known[] = {{"adaptive", "", make_plain<AdaptivePolicy>},
                                 {"demand", ":DIVISIONS", make_numbered<DemandPolicy>},
                                 {"guided", ":FLOOR", make_numbered<GuidedPolicy>},
                                 {"dynamic", ":PACKAGES", make_numbered<DynamicPolicy>},
                                 {"static", "", make_plain<StaticPolicy>}};

} // namespace

std::unique_ptr<Policy> make_policy(std::string_view name) {
    const auto colon = std::min(name.find(':'), name.size());
    const std::string_view base = name.substr(0, colon);
    const std::string_view parameter = name.substr(std::min(colon + 1, name.size()));
    if (colon + 1 == name.size())
        throw Error{ErrorKind::invalid_argument,
                    "policy '" + std::string(name) + "': nothing after the colon"};
    for (const KnownPolicy& policy : known)
        if (policy.name == base) return policy.make(base, parameter);
    throw Error{ErrorKind::not_found,
                "there is no policy '" + std::string(name) + "'; there is " + known_policies()};
}

std::string known_policies() {
    std::string names;
    for (const KnownPolicy& policy : known)
        names.append(names.empty() ? "" : ", ").append(policy.name).append(policy.parameter);
    return names;
}

} // namespace headrace
