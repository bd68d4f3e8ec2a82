// apps/barnes_hut/read_bodies.cpp - see read_bodies.hpp.
#include "read_bodies.hpp"
#include "column_names.hpp"
#include "gadget.hpp"
#include "program/npy.hpp"
#include "program/shared_input.hpp"
#include "remark_names.hpp"
#include <headrace/core/error.hpp>
#include <headrace/core/log.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace barnes_hut {
namespace {

using headrace::Error;
using headrace::ErrorKind;

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
};

using Row = std::array<double, columns.size()>;

/// Where the columns of a table are in ours.
class Columns {
public:
    /// `names`: of all, as the file has them. Errors: invalid_argument, which is missing, or there twice
    Columns(const Place& place, const std::vector<std::string>& names) {
        std::array<bool, columns.size()> is_there{};
        for (const std::string& name : names) {
            const std::size_t column = column_of(name);
            places_.push_back(column);
            if (column == unused_column)
                unused_.push_back(name);
            else if (std::exchange(is_there[column], true))
                place.refuse(std::string("two columns are ") + columns[column]);
        }
        const bool has_velocity = is_there[3] || is_there[4] || is_there[5];
        for (std::size_t i = 0; i < columns.size(); ++i)
            if (!is_there[i] && (has_velocity || i < velocity_column || i == mass_column))
                place.refuse(std::string("no column is ") + columns[i] +
                             "; names are x, y, z, vx, vy, vz, m (or mass) in any order");
    }

    /// Seven columns, or four: x, y, z, m.
    static Columns without_names(const Place& place, std::size_t count) {
        if (count == 4) return {place, {"x", "y", "z", "m"}};
        if (count != columns.size())
            place.refuse(
                "has " + std::to_string(count) +
                " fields; wanted are 7 (x,y,z,vx,vy,vz,m), 4 (x,y,z,m), or a first line that names them");
        return {place, {columns.begin(), columns.end()}};
    }

    [[nodiscard]] std::size_t count() const { return places_.size(); }
    [[nodiscard]] std::size_t operator[](std::size_t field) const { return places_[field]; }
    [[nodiscard]] const std::vector<std::string>& left_out() const { return unused_; }

private:
    std::vector<std::size_t> places_;
    std::vector<std::string> unused_;
};

std::string field_text(std::size_t field, std::size_t column) {
    return "field " + std::to_string(field + 1) +
           (column < columns.size() ? std::string(" (") + columns[column] + ")" : "");
}

/// What a body may be made of.
void check(const Place& place, std::size_t field, std::size_t column, double value) {
    if (const char* why = why_not(value, column == mass_column))
        place.refuse(field_text(field, column) + ": " + why);
}

void append(Bodies& bodies, const Row& row) {
    bodies.places.push_back({row[0], row[1], row[2]});
    bodies.velocities.push_back({row[3], row[4], row[5]});
    bodies.masses.push_back(row[6]);
}

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

/// Without a remark behind data, which a blank comes before.
std::string_view without_remark(std::string_view line) {
    for (auto mark = line.find('#'); mark != line.npos; mark = line.find('#', mark + 1))
        if (mark > 0 && (line[mark - 1] == ' ' || line[mark - 1] == '\t'))
            return trimmed(line.substr(0, mark));
    return line;
}

/// As C, Fortran (1.5D+03) and NumPy write it.
std::optional<double> number_in(std::string_view field) {
    if (field.starts_with('+')) field.remove_prefix(1);
    std::string fortran;
    if (field.find_first_of("dD") != std::string_view::npos) {
        fortran = field;
        std::ranges::replace_if(
            fortran, [](char letter) { return letter == 'd' || letter == 'D'; }, 'e');
        field = fortran;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error == std::errc::result_out_of_range) { // from_chars does not say on which side
        const double nearest = std::strtod(std::string(field).c_str(), nullptr);
        return end == field.data() + field.size() ? std::optional(nearest) : std::nullopt;
    }
    if (error != std::errc{} || end != field.data() + field.size()) return std::nullopt;
    return value;
}

/// Whether it ends with a mark: behind the last number, or in front of a last field that is empty.
bool ends_with_mark(const std::vector<std::string_view>& fields) {
    return fields.size() > 1 && fields.back().empty();
}

/// Between semicolons or commas; in a line that has neither, between blanks.
std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    const char mark = line.find(';') != std::string_view::npos   ? ';'
                      : line.find(',') != std::string_view::npos ? ','
                                                                 : ' ';
    if (mark != ' ') {
        for (;;) {
            const auto end = std::min(line.find(mark), line.size());
            fields.push_back(trimmed(line.substr(0, end)));
            if (end == line.size()) break;
            line.remove_prefix(end + 1);
        }
        return fields;
    }
    constexpr std::string_view blanks = " \t";
    for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
        const auto end = std::min(line.find_first_of(blanks), line.size());
        fields.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return fields;
}

std::vector<std::string> names_in(const std::vector<std::string_view>& fields) {
    std::vector<std::string> names;
    for (std::string_view field : fields) {
        if (field.size() > 1 && field.front() == '"' && field.back() == '"')
            field = field.substr(1, field.size() - 2);
        names.emplace_back(field);
    }
    return names;
}

/// The first line that is no remark names the columns if nothing in it is a number.
bool is_header(const std::vector<std::string_view>& fields) {
    const auto is_like_a_number = [](std::string_view field) {
        return field.empty() || number_in(field) ||
               std::string_view("+-.0123456789").find(field.front()) != std::string_view::npos;
    };
    return std::ranges::none_of(fields, is_like_a_number);
}

/// What nothing is made of is said once.
void note_left_out(const std::string& file, const Columns& names) {
    constexpr std::array<std::string_view, 3> numbers{"id", "index", "particle"};
    std::string list;
    for (const std::string& name : names.left_out())
        if (std::ranges::find(numbers, name) == numbers.end())
            list += (list.empty() ? "" : ", ") + excerpt(name);
    if (!list.empty()) headrace::log_warning(file + ": columns that are not used: " + list);
}

} // namespace

const char* why_not(double value, bool is_mass) {
    if (!std::isfinite(value)) return "must be finite";
    if (std::abs(value) > largest) return "is beyond 1e100; choose other units";
    if (is_mass && value < 0) return "a mass must not be negative";
    if (is_mass && value > 0 && value < least_mass) return "is below 1e-100 and not 0; choose other units";
    return nullptr;
}

std::unique_ptr<std::istream> open_file(const std::filesystem::path& file) {
    if (auto bytes = program::shared_input(file))
        return std::make_unique<std::istringstream>(*std::move(bytes), std::ios::binary);
    std::error_code ignored;
    const bool is_folder = std::filesystem::is_directory(file, ignored);
    errno = 0;
    auto stream = std::make_unique<std::ifstream>(file, std::ios::binary);
    if (!*stream || is_folder)
        throw Error{ErrorKind::not_found,
                    file.string() + ": cannot be read: " +
                        (is_folder ? "it is a folder" : std::generic_category().message(errno))};
    return stream;
}

Bodies parse_csv(std::string_view text, const std::string& name) {
    Bodies bodies;
    std::optional<Columns> order;
    Remarks remarks;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3); // a mark of some editors
        line = trimmed(line);
        if (line.empty()) continue;
        if (line.front() == '#') {
            line.remove_prefix(std::min(line.find_first_not_of('#'), line.size()));
            if (!order) remarks.add(number, line);
            continue;
        }
        const Place place{name, "line", number};
        std::vector<std::string_view> fields = fields_of(without_remark(line));
        if (!order) {
            auto named = remarks.names_of(fields.size());
            std::vector<std::string_view> without_mark = fields;
            if (ends_with_mark(fields)) without_mark.pop_back();
            if (is_header(without_mark)) {
                order.emplace(place, names_in(without_mark));
                note_left_out(name, *order);
                continue;
            }
            if (!named) {
                fields = without_mark;
                named = remarks.names_of(fields.size());
            }
            if (named) {
                order.emplace(Place{name, "line", named->line}, named->names);
                note_left_out(name, *order);
            } else if (const auto doubt = remarks.doubt_about(fields.size(), number)) {
                Place{name, "line", doubt->line}.refuse(doubt->why);
            } else {
                order = Columns::without_names(place, fields.size());
            }
        }
        // An empty last field is one only where a column is that is not used.
        if (ends_with_mark(fields) &&
            (fields.size() > order->count() || (*order)[fields.size() - 1] != unused_column))
            fields.pop_back();
        if (fields.size() < order->count())
            place.refuse(field_text(fields.size(), (*order)[fields.size()]) + ": is missing; a line has " +
                         std::to_string(order->count()));
        if (fields.size() > order->count())
            place.refuse("has " + std::to_string(fields.size()) + " fields; wanted are " +
                         std::to_string(order->count()));
        Row row{};
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::size_t column = (*order)[i];
            if (column == unused_column) continue;
            const std::optional<double> value = number_in(fields[i]);
            if (!value) place.refuse(field_text(i, column) + ": " + excerpt(fields[i]) + " is no number");
            check(place, i, column, *value);
            row[column] = *value;
        }
        append(bodies, row);
    }
    return bodies;
}

Bodies parse_npy(std::istream& stream, const std::string& name) {
    const program::NpyHeader header = program::read_npy_header(stream, name);
    const Place whole{name, "row", 1};
    const bool is_structure = header.fields.size() > 1;
    const auto& shape = header.shape;
    if (is_structure ? shape.size() != 1 : shape.size() != 2 || (shape[1] != columns.size() && shape[1] != 4))
        throw Error{
            ErrorKind::invalid_argument,
            name +
                ": must have rows of 7 numbers, x y z vx vy vz m, or of 4, x y z m, or be a structured "
                "array of these names; its shape is " +
                program::text_of_shape(shape)};
    std::vector<std::string> names;
    for (const program::NpyField& field : header.fields) names.push_back(field.name);
    const Columns order = is_structure ? Columns(whole, names) : Columns::without_names(whole, shape[1]);
    note_left_out(name, order);
    const std::size_t rows = shape[0], width = order.count();
    Bodies bodies;
    if (!header.is_fortran || is_structure) {
        std::vector<double> numbers(width);
        for (std::size_t row = 0; row < rows; ++row) {
            program::read_npy_numbers(stream, header, name, numbers);
            Row body{};
            for (std::size_t i = 0; i < width; ++i) {
                if (order[i] == unused_column) continue;
                check({name, "row", row + 1}, i, order[i], numbers[i]);
                body[order[i]] = numbers[i];
            }
            append(bodies, body);
        }
        return bodies;
    }
    // Column after column. What a header promises and the file does not have takes no memory.
    constexpr std::size_t at_once = 4096;
    std::vector<double> numbers;
    for (std::size_t done = 0; done < rows * width; done = numbers.size()) {
        numbers.resize(std::min(done + at_once, rows * width));
        program::read_npy_numbers(stream, header, name, std::span(numbers).subspan(done));
    }
    for (std::size_t row = 0; row < rows; ++row) {
        Row body{};
        for (std::size_t i = 0; i < width; ++i) {
            const double number = numbers[i * rows + row];
            check({name, "row", row + 1}, i, order[i], number);
            body[order[i]] = number;
        }
        append(bodies, body);
    }
    return bodies;
}

Bodies read_bodies(const std::filesystem::path& file) {
    const std::unique_ptr<std::istream> opened = open_file(file);
    std::istream& stream = *opened;
    const std::string name = file.string();
    constexpr char npy = '\x93', hdf5 = '\x89'; // no text begins with them
    if (is_gadget_name(file) || stream.peek() == std::char_traits<char>::to_int_type(hdf5))
        return read_gadget(file);
    const bool is_array = is_npy_name(file) || stream.peek() == std::char_traits<char>::to_int_type(npy);
    Bodies bodies = is_array ? parse_npy(stream, name)
                             : parse_csv(std::string{std::istreambuf_iterator<char>(stream), {}}, name);
    if (bodies.size() == 0) throw Error{ErrorKind::invalid_argument, name + ": has no bodies"};
    return bodies;
}

} // namespace barnes_hut
