// apps/barnes_hut/read_bodies.cpp - see read_bodies.hpp.
#include "read_bodies.hpp"
#include "program/npy.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

namespace barnes_hut {
namespace {

using headrace::Error;
using headrace::ErrorKind;

constexpr std::array<const char*, 7> columns{"x", "y", "z", "vx", "vy", "vz", "m"};
/// Larger numbers have squares and sums that a double cannot hold.
constexpr double largest = 1e100;
/// Products of lesser masses are 0.
constexpr double least_mass = 1e-100;

/// For messages: not too long, and nothing in it that a terminal would take for a command.
std::string excerpt(std::string_view text) {
    std::string shown(text.substr(0, 40));
    std::ranges::replace_if(
        shown, [](unsigned char letter) { return letter < ' ' || letter >= 127; }, '?');
    return '"' + shown + '"';
}

/// Where a number is, for people.
struct Place {
    const std::string& file;
    const char* unit; ///< "line" or "row"
    std::size_t number;

    [[noreturn]] void refuse(const std::string& why) const {
        throw Error{ErrorKind::invalid_argument,
                    file + ": " + unit + " " + std::to_string(number) + ": " + why};
    }
    [[noreturn]] void refuse(std::size_t column, const std::string& why) const {
        refuse("field " + std::to_string(column + 1) + " (" + columns[column] + "): " + why);
    }
};

/// What a body may be made of.
void check(const Place& place, std::size_t column, double value) {
    if (!std::isfinite(value)) place.refuse(column, "must be finite");
    if (std::abs(value) > largest) place.refuse(column, "is beyond 1e100; choose other units");
    if (column == 6 && value < 0) place.refuse(column, "a mass must not be negative");
    if (column == 6 && value > 0 && value < least_mass)
        place.refuse(column, "is below 1e-100 and not 0; choose other units");
}

void append(Bodies& bodies, const std::array<double, 7>& row) {
    bodies.places.push_back({row[0], row[1], row[2]});
    bodies.velocities.push_back({row[3], row[4], row[5]});
    bodies.masses.push_back(row[6]);
}

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

std::optional<double> number_in(std::string_view field) {
    if (field.starts_with('+')) field.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc{} || end != field.data() + field.size()) return std::nullopt;
    return value;
}

std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    for (;;) {
        const auto comma = std::min(line.find(','), line.size());
        fields.push_back(trimmed(line.substr(0, comma)));
        if (comma == line.size()) return fields;
        line.remove_prefix(comma + 1);
    }
}

/// A first line whose first field is no number names the columns, which must be ours: numbers in another
/// order would be taken for what they are not.
bool is_header(const Place& place, const std::vector<std::string_view>& fields) {
    const auto begins_like_a_number = [](std::string_view field) {
        return field.empty() ||
               std::string_view("+-.0123456789").find(field.front()) != std::string_view::npos;
    };
    if (begins_like_a_number(fields.front()) || number_in(fields.front())) return false;
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (i >= fields.size() || fields[i] != columns[i])
            place.refuse("the header must be x,y,z,vx,vy,vz,m; field " + std::to_string(i + 1) + " is " +
                         (i < fields.size() ? excerpt(fields[i]) : "missing"));
    if (fields.size() > columns.size())
        place.refuse("the header must be x,y,z,vx,vy,vz,m; it has " + std::to_string(fields.size()) +
                     " fields");
    return true;
}

std::ifstream open(const std::filesystem::path& file) {
    std::error_code ignored;
    const bool is_folder = std::filesystem::is_directory(file, ignored);
    errno = 0;
    std::ifstream stream(file, std::ios::binary);
    if (!stream || is_folder)
        throw Error{ErrorKind::not_found,
                    file.string() + ": cannot be read: " +
                        (is_folder ? "it is a folder" : std::generic_category().message(errno))};
    return stream;
}

bool is_npy(const std::filesystem::path& file) { return file.extension() == ".npy"; }

} // namespace

Bodies parse_csv(std::string_view text, const std::string& name) {
    Bodies bodies;
    bool may_be_header = true;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3); // a mark of some editors
        line = trimmed(line);
        if (line.empty() || line.front() == '#') continue;
        const Place place{name, "line", number};
        const std::vector<std::string_view> fields = fields_of(line);
        if (std::exchange(may_be_header, false) && is_header(place, fields)) continue;
        std::array<double, 7> row{};
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (i >= fields.size()) place.refuse(i, "is missing; a line has 7: x,y,z,vx,vy,vz,m");
            const std::optional<double> value = number_in(fields[i]);
            if (!value) place.refuse(i, excerpt(fields[i]) + " is no number");
            check(place, i, *value);
            row[i] = *value;
        }
        if (fields.size() > columns.size())
            place.refuse("has " + std::to_string(fields.size()) + " fields; wanted are 7: x,y,z,vx,vy,vz,m");
        append(bodies, row);
    }
    return bodies;
}

Bodies parse_npy(std::istream& stream, const std::string& name) {
    const program::NpyHeader header = program::read_npy_header(stream, name);
    if (header.shape.size() != 2 || header.shape[1] != columns.size())
        throw Error{ErrorKind::invalid_argument,
                    name + ": must have rows of 7 numbers, x y z vx vy vz m; its shape is " +
                        program::text_of_shape(header.shape)};
    Bodies bodies;
    for (std::size_t row = 0; row < header.shape[0]; ++row) {
        std::array<double, 7> numbers{};
        program::read_npy_numbers(stream, header, name, numbers);
        for (std::size_t i = 0; i < columns.size(); ++i) check({name, "row", row + 1}, i, numbers[i]);
        append(bodies, numbers);
    }
    return bodies;
}

Bodies read_bodies(const std::filesystem::path& file) {
    check_table_name("--input", file);
    std::ifstream stream = open(file);
    const std::string name = file.string();
    Bodies bodies = is_npy(file) ? parse_npy(stream, name)
                                 : parse_csv(std::string{std::istreambuf_iterator<char>(stream), {}}, name);
    if (bodies.size() == 0) throw Error{ErrorKind::invalid_argument, name + ": has no bodies"};
    return bodies;
}

void check_table_name(const std::string& option, const std::filesystem::path& file) {
    if (!is_npy(file) && file.extension() != ".csv")
        throw Error{ErrorKind::invalid_argument,
                    option + " " + file.string() + ": takes a name that ends with .csv or .npy"};
}

std::string table_of(const std::filesystem::path& file, const std::vector<double>& numbers,
                     const std::vector<std::string>& names) {
    if (is_npy(file)) return program::npy_of(numbers, {numbers.size() / names.size(), names.size()});
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) text += (i > 0 ? "," : "") + names[i];
    text += '\n';
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::array<char, 32> digits; // the fewest that give the same double
        const auto end = std::to_chars(digits.begin(), digits.end(), numbers[i]).ptr;
        text.append(digits.begin(), end);
        text += (i + 1) % names.size() == 0 ? '\n' : ',';
    }
    return text;
}

std::string bodies_table(const std::filesystem::path& file, const Bodies& bodies) {
    std::vector<double> numbers;
    numbers.reserve(7 * bodies.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const Vector &place = bodies.places[i], &velocity = bodies.velocities[i];
        for (const double number :
             {place.x, place.y, place.z, velocity.x, velocity.y, velocity.z, bodies.masses[i]})
            numbers.push_back(number);
    }
    return table_of(file, numbers, {columns.begin(), columns.end()});
}

std::string vectors_table(const std::filesystem::path& file, const std::vector<Vector>& accelerations) {
    std::vector<double> numbers;
    numbers.reserve(3 * accelerations.size());
    for (const Vector& vector : accelerations)
        for (const double number : {vector.x, vector.y, vector.z}) numbers.push_back(number);
    return table_of(file, numbers, {"ax", "ay", "az"});
}

} // namespace barnes_hut
