// apps/fluorescence/read_mci.cpp - MCML's input files: values in a fixed order, a line each, `#` before
// remarks. MCML takes them with scanf, so scripts write 1E4, +1.0 and inf; and it drops control characters.
#include "layout.h"
#include "problem.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

namespace fluorescence {
namespace {

using headrace::Error;
using headrace::ErrorKind;

/// As MCML sees the text: without a byte order mark and control characters, whatever ends its lines.
std::string plain_text(std::string_view text) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (text.starts_with(mark)) text.remove_prefix(mark.size());
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '\r' && !text.substr(i + 1).starts_with('\n'))
            plain += '\n';
        else if ((byte >= ' ' && byte != 0x7f) || byte == '\n' || byte == '\t')
            plain += text[i];
        else if (byte == '\v' || byte == '\f')
            plain += ' ';
    }
    return plain;
}

class MciReader {
public:
    MciReader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

    [[noreturn]] void refuse(const std::string& why) const {
        throw Error{ErrorKind::invalid_argument, where_ + ": line " + std::to_string(line_) + ": " + why};
    }

    /// The words of the next line that has some. `what` they are, for who forgot them.
    std::vector<std::string_view> words(const char* what, std::size_t least) {
        std::vector<std::string_view> found;
        while (found.empty()) {
            if (at_ >= text_.size()) refuse(std::string("the file ends before ") + what);
            const std::size_t end = std::min(text_.find('\n', at_), text_.size());
            found = split(text_.substr(at_, end - at_));
            at_ = end + 1;
            ++line_;
        }
        if (found.size() < least) refuse(std::string("takes ") + what);
        return found;
    }

    template <class Number>
    Number number(std::string_view word, const char* field, Number least, Number most) const {
        const std::optional<Number> value = parse<Number>(word);
        if (!value || !(*value >= least && *value <= most))
            refuse(std::string(field) + " '" + std::string(word.substr(0, 40)) + "' is no " +
                   (std::is_integral_v<Number> ? "whole number" : "number") + " from " + text_of(least) +
                   " to " + text_of(most));
        return *value;
    }

private:
    /// Whole numbers too may have a sign, a point and an exponent, if they are whole.
    template <class Number>
    static std::optional<Number> parse(std::string_view word) {
        if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
        const char* const end = word.data() + word.size();
        Number value{};
        if (const auto [stop, error] = std::from_chars(word.data(), end, value);
            error == std::errc{} && stop == end)
            return value;
        double real = 0;
        constexpr double most = 0x1p62;
        const auto [stop, error] = std::from_chars(word.data(), end, real);
        if (!std::is_integral_v<Number> || error != std::errc{} || stop != end || !(std::abs(real) < most))
            return std::nullopt;
        if (real != std::floor(real) || real < static_cast<double>(std::numeric_limits<Number>::lowest()) ||
            real > static_cast<double>(std::numeric_limits<Number>::max()))
            return std::nullopt;
        return static_cast<Number>(real);
    }
    static std::string text_of(double number) {
        char text[32];
        return {text, std::to_chars(text, text + sizeof text, number).ptr};
    }
    template <class Whole>
    requires(std::is_integral_v<Whole>) static std::string text_of(Whole number) {
        return std::to_string(number);
    }

    static std::vector<std::string_view> split(std::string_view line) {
        line = line.substr(0, line.find('#'));
        std::vector<std::string_view> words;
        constexpr std::string_view space = " \t";
        for (std::size_t at = 0; (at = line.find_first_not_of(space, at)) != std::string_view::npos;) {
            const std::size_t end = std::min(line.find_first_of(space, at), line.size());
            words.push_back(line.substr(at, end - at));
            at = end;
        }
        return words;
    }

    std::string_view text_;
    const std::string& where_;
    std::size_t at_ = 0, line_ = 0;
};

constexpr double most = 1e30;

/// MCML skips the first line. What is plainly not of its first version is refused all the same.
void check_version(const MciReader& reader, std::string_view version) {
    const std::string shown = "version '" + std::string(version.substr(0, 40)) + "'";
    if (version == "A1" || version == "B1")
        reader.refuse(shown + ": this is a result of MCML's, not its input");
    double number = 0;
    const auto error = std::from_chars(version.data(), version.data() + version.size(), number).ec;
    if (version.starts_with("mcml") || (error == std::errc{} && number >= 2))
        reader.refuse(shown + ": MCML 2 has files of another layout; write it for MCML 1, version 1.0");
}

Problem read_run(MciReader& reader) {
    Problem problem;
    problem.name = reader.words("a run's output file", 1)[0];
    problem.photons = reader.number<std::uint64_t>(reader.words("the number of photons", 1)[0], "photons", 1,
                                                   std::uint64_t{1} << 55);
    const auto sizes = reader.words("dz dr", 2);
    problem.grid.dz = reader.number<double>(sizes[0], "dz", 1e-9, most);
    problem.grid.dr = reader.number<double>(sizes[1], "dr", 1e-9, most);
    const auto cells = reader.words("numbers of dz, dr and da", 3);
    problem.grid.nz = reader.number(cells[0], "number of dz", 1, 1 << 20);
    problem.grid.nr = reader.number(cells[1], "number of dr", 1, 1 << 20);
    problem.grid.na = reader.number(cells[2], "number of da", 1, 1 << 20);
    const int layers = reader.number(reader.words("the number of layers", 1)[0], "number of layers", 1,
                                     FLUORESCENCE_MOST_LAYERS);
    problem.n_above = reader.number(reader.words("n above", 1)[0], "n above", least_n, most_n);
    for (int i = 0; i < layers; ++i) {
        const auto fields = reader.words("n mua mus g d of a layer", 5);
        LayerSpec layer;
        layer.n = reader.number(fields[0], "n", least_n, most_n);
        layer.excitation.mua = reader.number(fields[1], "mua", 0.0, most);
        layer.excitation.mus = reader.number(fields[2], "mus", 0.0, most);
        layer.excitation.g = reader.number(fields[3], "g", -1.0, 1.0);
        layer.thickness = reader.number(fields[4], "d", 0.0, std::numeric_limits<double>::infinity());
        if (const auto why = complaint(layer)) reader.refuse(*why);
        problem.layers.push_back(layer);
    }
    problem.n_below = reader.number(reader.words("n below", 1)[0], "n below", least_n, most_n);
    return problem;
}

} // namespace

std::vector<Problem> parse_mci(const std::string& text, const std::string& where) {
    const std::string plain = plain_text(text);
    MciReader reader(plain, where);
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
        throw Error{ErrorKind::invalid_argument, where + ": line 1: is UTF-16; save it as ASCII or UTF-8"};
    check_version(reader, reader.words("the version of the file, 1.0", 1)[0]);
    const int runs = reader.number(reader.words("the number of runs", 1)[0], "number of runs", 1, 100000);
    std::vector<Problem> problems;
    for (int i = 0; i < runs; ++i) problems.push_back(read_run(reader));
    return problems;
}

} // namespace fluorescence
