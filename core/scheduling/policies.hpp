// core/scheduling/policies.hpp - the policies from papers: tasks in proportion to capabilities, or all equal.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/policy.hpp>

#include <vector>

namespace headrace {

/// One task for each device, in proportion to its capability. The work of a lost device goes to the others,
/// in proportion to their capabilities.
///
/// Source  Nozal and Bosque, "Straightforward heterogeneous computing", 2021, sec. 4.3
class HEADRACE_EXPORT StaticPolicy final : public Policy {
public:
    [[nodiscard]] std::uint64_t next(std::size_t device, const Progress& progress) override;
    [[nodiscard]] bool takes_over(std::size_t, const Progress&) const override { return false; }

private:
    std::vector<bool> served_;
};

/// `packages` tasks of equal size; each goes to the next device that asks.
///
/// Source  Nozal and Bosque 2021, sec. 4.3
class HEADRACE_EXPORT DynamicPolicy final : public Policy {
public:
    static constexpr std::uint64_t default_packages = 200;
    /// Throws invalid_argument for 0.
    explicit DynamicPolicy(std::uint64_t packages = default_packages);
    [[nodiscard]] std::uint64_t next(std::size_t device, const Progress& progress) override;
    [[nodiscard]] bool takes_over(std::size_t, const Progress&) const override { return false; }

private:
    std::uint64_t packages_;
};

/// HGuided: a task has R C_d / (k n sum C) work units, with R remaining work units, n devices and k = 2. Each
/// device has a minimum: `floor` work units for the fastest device, in proportion less for the others.
///
/// Source  Nozal and Bosque 2021, sec. 4.3; the formula is that of their EngineCL, 2020
class HEADRACE_EXPORT GuidedPolicy final : public Policy {
public:
    static constexpr double k = 2;
    /// `floor` 0: a thousandth of the job.
    explicit GuidedPolicy(std::uint64_t floor = 0) : floor_(floor) {}
    [[nodiscard]] std::uint64_t next(std::size_t device, const Progress& progress) override;
    [[nodiscard]] bool takes_over(std::size_t, const Progress&) const override { return false; }

private:
    std::uint64_t floor_;
};

/// Demand driven: a task is N / divisions x Cd / max(C) work units, at least one.
///
/// A device gets no work if it would need longer for one unit than the others need for all remaining units:
/// a device must not delay the end of a job.
///
/// Source  Ribeiro et al., "Irregular workloads", 2014, sec. 4.1. Differs in: the refusal above
class HEADRACE_EXPORT DemandPolicy final : public Policy {
public:
    static constexpr std::uint64_t default_divisions = 10;
    /// Throws invalid_argument for 0.
    explicit DemandPolicy(std::uint64_t divisions = default_divisions);
    [[nodiscard]] std::uint64_t next(std::size_t device, const Progress& progress) override;

private:
    std::uint64_t divisions_;
};

} // namespace headrace
