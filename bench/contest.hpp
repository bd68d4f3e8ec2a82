// bench/contest.hpp - programs that take turns, so that all see the same machine in the same state, and a
// Markdown table of what they took. A program prints an object with its `seconds` and its `checksum`, in
// JSON.
#pragma once
#include <string>
#include <vector>

namespace bench {

/// One program of a row and what it took.
struct Contestant {
    std::string name, command;
    std::vector<double> seconds{};
    double checksum = 0;
    std::string device{}, busiest{}; ///< as it says itself; empty if it does not

    /// Runs the command; throws unless it succeeds. Turns that warm up do not count.
    void take_turn(bool counts);
    [[nodiscard]] double median() const;
    [[nodiscard]] std::string text() const; ///< median (least to most)
};

/// What both print a report with: `program`'s own options come before.
[[nodiscard]] Contestant headrace_program(const std::string& program, const std::string& options);
/// A program of this folder.
[[nodiscard]] Contestant baseline(const std::string& program, const std::string& options);

/// A row for each call of `pairs`; every second column is compared with the one before.
class Table {
public:
    /// Prints the heading. `columns` without the ratios, two for each pair.
    Table(const std::string& title, const std::string& first, const std::vector<std::string>& columns,
          unsigned repeats);

    /// Runs them in turns and prints the row. Throws if their checksums differ by more than that part.
    void pairs(const std::string& label, std::vector<Contestant> row, double tolerance) const;

private:
    unsigned repeats_;
};

} // namespace bench
