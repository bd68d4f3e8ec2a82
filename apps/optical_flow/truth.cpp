// apps/optical_flow/truth.cpp - see truth.hpp.
#include "truth.hpp"
#include "program/file_content.hpp"
#include "program/numbers.hpp"
#include "program/used_files.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace optical_flow {
namespace {

constexpr std::size_t header_bytes = 12;
constexpr double largest_known = 1e9, large_error = 3; // pixels

std::string text_of(std::int32_t width, std::int32_t height) {
    return std::to_string(width) + " x " + std::to_string(height);
}

void check_header(const std::string& file, std::string_view bytes, Size size) {
    if (!bytes.starts_with("PIEH")) program::refuse(file + ": is no .flo file: it does not begin with PIEH");
    if (bytes.size() < header_bytes) program::refuse(file + ": ends within its header");
    std::array<std::int32_t, 2> sides{};
    std::memcpy(sides.data(), bytes.data() + 4, sizeof sides);
    if (sides[0] != size.width || sides[1] != size.height)
        program::refuse(file + ": is flow of " + text_of(sides[0], sides[1]) + " pixels; frames have " +
                        text_of(size.width, size.height));
}

EndPointErrors operator+(const EndPointErrors& a, const EndPointErrors& b) {
    return {a.sum + b.sum, a.large + b.large, a.known + b.known};
}

} // namespace

EndPointErrors end_point_errors(const std::string& file, std::string_view bytes, Size size,
                                std::span<const float> u, std::span<const float> v) {
    check_header(file, bytes, size);
    const std::size_t expected = header_bytes + 2 * sizeof(float) * size.pixels();
    if (bytes.size() != expected)
        program::refuse(file + ": has " + std::to_string(bytes.size()) + " bytes; flow of its size has " +
                        std::to_string(expected));
    constexpr std::size_t grain = 65536; // fixed: it decides in which order is added
    const EndPointErrors all = tbb::parallel_deterministic_reduce(
        tbb::blocked_range<std::size_t>(0, size.pixels(), grain), EndPointErrors{},
        [&](const tbb::blocked_range<std::size_t>& part, EndPointErrors errors) {
            for (std::size_t i = part.begin(); i != part.end(); ++i) {
                std::array<float, 2> truth{};
                std::memcpy(truth.data(), bytes.data() + header_bytes + i * sizeof truth, sizeof truth);
                if (!(std::abs(truth[0]) <= largest_known && std::abs(truth[1]) <= largest_known)) continue;
                const double error =
                    std::hypot(double{u[i]} - double{truth[0]}, double{v[i]} - double{truth[1]});
                errors.sum += error;
                errors.large += error > large_error;
                ++errors.known;
            }
            return errors;
        },
        [](const EndPointErrors& a, const EndPointErrors& b) { return a + b; });
    if (all.known == 0) program::refuse(file + ": knows no pixel's flow: all are beyond 1e9");
    return all;
}

Truth::Truth(std::vector<std::string> files, Size size) : files_(std::move(files)), size_(size) {
    for (const std::string& file : files_) { // better now than after hours of work
        program::note_input(file);
        std::error_code ignored;
        if (std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored))
            continue;
        std::string first(header_bytes, '\0');
        std::ifstream stream(file, std::ios::binary);
        if (!stream) static_cast<void>(program::file_content(file, 0)); // says why
        stream.read(first.data(), static_cast<std::streamsize>(first.size()));
        first.resize(static_cast<std::size_t>(stream.gcount()));
        check_header(file, first, size_);
    }
}

void Truth::compare(std::span<const float> u, std::span<const float> v) {
    if (errors_.size() == files_.size()) return;
    const std::string& file = files_[errors_.size()];
    const std::size_t most =
        header_bytes + 2 * sizeof(float) * size_.pixels() + 1; // one more: is there more?
    errors_.push_back(end_point_errors(file, program::file_content(file, most), size_, u, v));
}

void Truth::expect_all_used() const {
    if (errors_.size() < files_.size())
        program::refuse("--truth: has " + std::to_string(files_.size()) + " files, and there are " +
                        std::to_string(errors_.size()) + " pairs; one for each is the most");
}

} // namespace optical_flow
