// apps/video/frame_names.cpp - see frame_names.hpp.
#include "video/frame_names.hpp"
#include "program/numbers.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace video {

namespace fs = std::filesystem;
using headrace::Error;
using headrace::ErrorKind;

template <class Refuse>
std::optional<FrameNames> FrameNames::parse(const std::string& pattern, const Refuse& refuse) {
    const std::string name = fs::path(pattern).filename().string();
    FrameNames names;
    names.pattern_ = pattern;
    bool has_number = false;
    for (std::size_t i = 0; i < name.size(); ++i) {
        std::string& text = has_number ? names.after_ : names.before_;
        if (name[i] != '%') {
            text += name[i];
            continue;
        }
        const std::size_t end = std::min(name.find_first_not_of("0123456789", i + 1), name.size());
        if (end == i + 1 && end < name.size() && name[end] == '%') {
            text += '%';
        } else {
            const std::string digits = name.substr(i + 1, end - i - 1);
            constexpr std::size_t longest = 18; // of numbers with 64 bits
            if (end < name.size() && digits.size() > 1 && digits.size() <= 4)
                names.digits_ = std::stoul(digits);
            if (end == name.size() || name[end] != 'd' || has_number ||
                (!digits.empty() && digits[0] != '0') || digits.size() > 4 || names.digits_ > longest ||
                (digits.size() > 1 && names.digits_ == 0)) {
                refuse();
                return std::nullopt;
            }
            has_number = true;
        }
        i = end;
    }
    if (!has_number) return std::nullopt;
    return names;
}

std::optional<FrameNames> FrameNames::parse(const std::string& pattern) {
    return parse(pattern, [&] {
        program::refuse(pattern +
                        ": takes one number, as %d or %04d, of up to 18 digits; %% is a per cent sign");
    });
}

std::optional<FrameNames> FrameNames::of_input(const std::string& name) {
    std::error_code ignored;
    return fs::exists(name, ignored) ? std::nullopt : parse(name);
}

std::optional<FrameNames> FrameNames::of_output(const std::string& name) {
    if (name.ends_with(".y4m") || name.ends_with(".yuv")) return std::nullopt;
    return parse(name, [] {});
}

std::string FrameNames::name_of(std::int64_t number) const {
    std::string digits = std::to_string(number);
    if (digits.size() < digits_) digits.insert(0, digits_ - digits.size(), '0');
    return (folder() / (before_ + digits + after_)).string();
}

std::optional<std::int64_t> FrameNames::number_of(const std::string& file_name) const {
    if (file_name.size() <= before_.size() + after_.size() || !file_name.starts_with(before_) ||
        !file_name.ends_with(after_))
        return std::nullopt;
    const char* const begin = file_name.data() + before_.size();
    const char* const end = file_name.data() + file_name.size() - after_.size();
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(begin, end, number);
    if (error != std::errc{} || stop != end || number < 0) return std::nullopt;
    if (fs::path(name_of(number)).filename() != file_name) return std::nullopt; // other zeros before it
    return number;
}

std::vector<std::string> FrameNames::files(std::optional<std::int64_t> start, std::int64_t most) const {
    std::vector<std::int64_t> there;
    std::error_code ignored;
    const fs::path where = folder().empty() ? fs::path(".") : folder();
    for (const auto& entry : fs::directory_iterator(where, ignored))
        if (const auto number = number_of(entry.path().filename().string())) there.push_back(*number);
    std::ranges::sort(there);
    if (start) there.erase(there.begin(), std::ranges::lower_bound(there, *start));
    const std::string first = start ? name_of(*start) : pattern_;
    if (there.empty() || (start && there.front() != *start))
        throw Error{ErrorKind::not_found,
                    first + (start ? ": there is no such file" : ": there are no such files")};

    std::vector<std::string> names;
    for (const std::int64_t number : there) {
        const std::int64_t expected = there.front() + std::ssize(names);
        if (std::ssize(names) >= most) break;
        if (number != expected)
            program::refuse(name_of(expected) + ": is missing" +
                            (number == expected + 1 ? "" : ", and so are all up to " + name_of(number - 1)) +
                            "; there are " + name_of(expected - 1) + " and " + name_of(number));
        names.push_back(name_of(number));
    }
    return names;
}

} // namespace video
