// apps/barnes_hut/remark_names.cpp - see remark_names.hpp.
#include "remark_names.hpp"
#include "column_names.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

namespace barnes_hut {
namespace {

using Words = std::vector<std::string>;

/// Without units and numbers of columns: "m (Msun)", "x[pc]", "[1]m".
std::string without_brackets(std::string_view text) {
    std::string plain;
    unsigned depth = 0;
    for (const char letter : text) {
        if (letter == '(' || letter == '[') {
            ++depth;
        } else if (depth > 0 && (letter == ')' || letter == ']')) {
            if (--depth == 0) plain += ' ';
        } else if (depth == 0) {
            plain += letter;
        }
    }
    return depth == 0 ? plain : std::string(text);
}

/// Between these marks, without blanks and quotes around them. Numbers only count the columns: "1:m 2:x".
Words words_in(std::string_view text, std::string_view marks) {
    constexpr std::string_view around = " \t\"'";
    Words words;
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of(marks), text.size());
        std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        word.remove_prefix(std::min(word.find_first_not_of(around), word.size()));
        word = word.substr(0, word.find_last_not_of(around) + 1);
        if (word.find_first_not_of("0123456789.") != word.npos) words.emplace_back(word);
    }
    return words;
}

constexpr std::string_view all_marks = ",;: \t";

/// What may be a list: names may have blanks in them ("velocity x, velocity y"), and a title in front.
/// The second has each word by itself.
std::vector<Words> readings_of(std::string_view remark) {
    const std::string plain = without_brackets(remark);
    const std::string_view all = plain, behind_title = all.substr(std::min(all.find(':') + 1, all.size()));
    std::vector<Words> readings{words_in(all, ",;:"), words_in(all, all_marks), words_in(behind_title, ",;"),
                                words_in(behind_title, all_marks)};
    constexpr std::array<std::string_view, 5> titles{"columns", "Columns", "fields", "Fields", "COLUMNS"};
    if (const Words& words = readings[1];
        !words.empty() && std::ranges::find(titles, words[0]) != titles.end())
        readings.emplace_back(words.begin() + 1, words.end());
    return readings;
}

std::vector<std::size_t> known_in(const Words& words) {
    std::vector<std::size_t> known;
    for (const std::string& word : words)
        if (const std::size_t column = column_of(word); column != unused_column) known.push_back(column);
    return known;
}

bool has_all(const std::vector<std::size_t>& known, std::initializer_list<std::size_t> wanted) {
    return std::ranges::all_of(
        wanted, [&](std::size_t column) { return std::ranges::find(known, column) != known.end(); });
}

/// A sentence, which is no list.
bool is_prose(const Words& words) {
    constexpr std::array<std::string_view, 14> joining{"and", "are", "as", "by", "for", "from", "in",
                                                       "is",  "of",  "on", "or", "the", "to",   "with"};
    return std::ranges::any_of(
        words, [&](const std::string& word) { return std::ranges::find(joining, word) != joining.end(); });
}

/// With x, y, z and m, and no word that may be meant as another of ours.
bool names_columns(const Words& words) {
    const std::vector<std::size_t> known = known_in(words);
    if (has_all(known, {0, 1, 2, 3, 4, 5, 6})) return true;
    return has_all(known, {0, 1, 2, mass_column}) && !is_prose(words) &&
           std::ranges::none_of(words, [](const std::string& word) {
               return column_of(word) == unused_column && may_be_name(word);
           });
}

/// Not in a line of units, in which m is the metre, and there more than once.
bool may_have_names(const Words& words) {
    const auto is_metre = [](const std::string& word) {
        return word.starts_with('m') && (word.size() == 1 || word[1] == '/');
    };
    const auto names = std::ranges::count_if(words, may_be_name);
    const auto metres = std::ranges::count_if(words, is_metre);
    return names > metres || metres == 1;
}

/// What columns without names are.
bool is_usual_order(const std::vector<std::size_t>& known, std::size_t count) {
    const std::vector<std::size_t> four{0, 1, 2, mass_column}, seven{0, 1, 2, 3, 4, 5, 6};
    return count == known.size() && (known == four || known == seven);
}

} // namespace

std::optional<Remarks::Names> Remarks::names_of(std::size_t count) const {
    for (auto remark = remarks_.rbegin(); remark != remarks_.rend(); ++remark)
        for (Words& words : readings_of(remark->text))
            if (words.size() == count && names_columns(words)) return Names{remark->line, std::move(words)};
    return std::nullopt;
}

std::optional<Remarks::Doubt> Remarks::doubt_about(std::size_t count, std::size_t row) const {
    for (const Remark& remark : remarks_) {
        const std::vector<Words> readings = readings_of(remark.text);
        const Words& each = readings[1];
        const bool is_sentence = is_prose(each);
        if (is_sentence && is_usual_order(known_in(each), count)) continue;
        for (const Words& words : readings) {
            const std::vector<std::size_t> known = known_in(words);
            if (words.size() != count && has_all(known, {0, 1, 2}) && 2 * known.size() > words.size())
                return Doubt{remark.line, "the remark names " + std::to_string(words.size()) +
                                              " columns, and line " + std::to_string(row) + " has " +
                                              std::to_string(count) +
                                              "; a first line of names without # says what is meant"};
            const bool is_list = words.size() == count && !is_sentence && may_have_names(words);
            const bool is_order = has_all(known, {0, 1, 2, mass_column}) && !is_usual_order(known, count);
            if (is_list || is_order)
                return Doubt{remark.line,
                             "the remark seems to name columns, but not all " + std::to_string(count) +
                                 " by x, y, z, vx, vy, vz, m (or mass); write the names into a first line "
                                 "without #, or leave the remark out"};
        }
    }
    return std::nullopt;
}

} // namespace barnes_hut
