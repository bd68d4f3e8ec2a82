// apps/barnes_hut/remark_names.hpp - names of columns in remarks, as numpy.savetxt writes them.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace barnes_hut {

/// Remarks in front of the rows of a table without a line of names. One may name the columns. A remark that
/// may be meant so, but is not understood, is refused: without names the columns have an order of their own.
class Remarks {
public:
    struct Names {
        std::size_t line;
        std::vector<std::string> names; ///< of all columns, x, y, z and m among them
    };
    struct Doubt {
        std::size_t line;
        std::string why;
    };

    /// `text`: without its #. It must live as long as this object.
    void add(std::size_t line, std::string_view text) { remarks_.push_back({line, text}); }

    /// The last remark that names that many columns.
    [[nodiscard]] std::optional<Names> names_of(std::size_t count) const;
    /// The first remark that may be meant to name them, where none does. `row`: the first one's line
    [[nodiscard]] std::optional<Doubt> doubt_about(std::size_t count, std::size_t row) const;

private:
    struct Remark {
        std::size_t line;
        std::string_view text;
    };
    std::vector<Remark> remarks_;
};

} // namespace barnes_hut
