// apps/path_tracer/check_obj.cpp - see scene_checks.hpp.
#include "scene_checks.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace path_tracer {
namespace {

/// Cuts the next word off the front of `rest`; empty at the end of the line.
std::string_view next_word(std::string_view& rest) {
    const auto begin = rest.find_first_not_of(" \t\r\\");
    if (begin == std::string_view::npos) return rest = {};
    const auto end = std::min(rest.find_first_of(" \t\r", begin), rest.size());
    const std::string_view word = rest.substr(begin, end - begin);
    rest.remove_prefix(end);
    return word;
}

template <class Number>
std::optional<Number> to_number(std::string_view word) {
    if (!word.empty() && word.front() == '+') word.remove_prefix(1);
    Number number{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    // Out of range still has the form of a number; the caller sees that it is not finite, or an index that is
    // too far.
    if (error == std::errc::result_out_of_range) return std::numeric_limits<Number>::max();
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return number;
}

class ObjCheck {
public:
    ObjCheck(const std::filesystem::path& file, std::string_view text) : file_(file), text_(text) {}

    void run() {
        if (text_.find('\0') != std::string_view::npos)
            refuse_scene(file_, "is not text, so it is no OBJ file");
        while (!text_.empty()) {
            const auto end = std::min(text_.find('\n'), text_.size());
            ++line_;
            check_line(text_.substr(0, end));
            text_.remove_prefix(std::min(end + 1, text_.size()));
        }
        if (faces_ == 0) refuse_scene(file_, "has no triangles; export meshes, not points or curves");
        for (std::size_t of = 0; of < 3; ++of)
            if (largest_[of] > count_[of])
                refuse_scene(file_, "line " + std::to_string(largest_line_[of]) + ": a face names " +
                                        names[of] + ' ' + std::to_string(largest_[of]) + " of " +
                                        std::to_string(count_[of]) + "; export the mesh again");
    }

private:
    static constexpr std::array<const char*, 3> names = {"vertex", "texture coordinate", "normal"};

    [[noreturn]] void refuse(const std::string& what) const {
        refuse_scene(file_, "line " + std::to_string(line_) + ": " + what);
    }

    void check_line(std::string_view rest) {
        const std::string_view keyword = next_word(rest);
        if (keyword == "v")
            check_vertex(rest);
        else if (keyword == "vt")
            ++count_[1];
        else if (keyword == "vn")
            ++count_[2];
        else if (keyword == "f")
            check_face(rest);
    }

    void check_vertex(std::string_view rest) {
        ++count_[0];
        for (int axis = 0; axis < 3; ++axis) {
            const std::string_view word = next_word(rest);
            const std::optional<double> number = to_number<double>(word);
            if (!number)
                refuse("a vertex needs three numbers, not \"" + std::string(word.substr(0, 40)) + '"');
            if (!(std::abs(*number) <= 1e15))
                refuse("the vertex coordinate " + std::string(word.substr(0, 40)) +
                       " is not finite or too large; export the mesh again");
        }
    }

    void check_face(std::string_view rest) {
        ++faces_;
        int corners = 0;
        for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest), ++corners)
            for (std::size_t of = 0; of < 3; ++of) {
                const auto slash = std::min(word.find('/'), word.size());
                if (slash > 0 || of == 0) check_index(word.substr(0, slash), of);
                if (slash == word.size()) break;
                word.remove_prefix(slash + 1);
            }
        if (corners < 3) refuse("a face needs at least three vertices");
    }

    void check_index(std::string_view word, std::size_t of) {
        const std::optional<std::int64_t> index = to_number<std::int64_t>(word);
        if (!index) refuse("a face needs indices, not \"" + std::string(word.substr(0, 40)) + '"');
        if (*index == 0)
            refuse("a face names " + std::string(names[of]) +
                   " 0, but OBJ counts from 1; export the mesh again");
        if (*index < -count_[of])
            refuse("a face names " + std::string(names[of]) + ' ' + std::to_string(*index) +
                   " from the end of " + std::to_string(count_[of]) + "; export the mesh again");
        if (*index > largest_[of]) { // vertices may come later in the file
            largest_[of] = *index;
            largest_line_[of] = line_;
        }
    }

    const std::filesystem::path& file_;
    std::string_view text_;
    std::int64_t line_ = 0, faces_ = 0;
    std::array<std::int64_t, 3> count_{}, largest_{}, largest_line_{};
};

} // namespace

void check_obj(const std::filesystem::path& file, std::string_view text) { ObjCheck(file, text).run(); }

} // namespace path_tracer
