// apps/fluorescence/toml_reader.hpp - values of TOML files, and complaints about them.
#pragma once
#include <headrace/core/error.hpp>

#include <toml++/toml.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace fluorescence {

/// Whether it was read from a text, and not made by a program.
[[nodiscard]] inline bool is_of_file(const toml::node& node) { return node.source().begin.line > 0; }

/// Every complaint names file, line and key; of tables that a program has made, no line.
class TomlReader {
public:
    explicit TomlReader(const std::string& where) : where_(where) {}

    [[nodiscard]] const std::string& where() const { return where_; }

    [[noreturn]] void refuse(toml::source_index line, const std::string& why) const {
        throw headrace::Error{headrace::ErrorKind::invalid_argument,
                              where_ + ": line " + std::to_string(line) + ": " + why};
    }
    [[noreturn]] void refuse(const toml::node& node, const std::string& why) const {
        if (is_of_file(node)) refuse(node.source().begin.line, why);
        throw headrace::Error{headrace::ErrorKind::invalid_argument, where_ + ": " + why};
    }

    /// Refuses a key that means nothing here: misspelt ones would be passed over in silence.
    void allow(const toml::table& table, std::initializer_list<std::string_view> known) const {
        for (const auto& [key, value] : table)
            if (std::ranges::find(known, key.str()) == known.end()) {
                std::string all;
                for (const std::string_view word : known)
                    all += (all.empty() ? "" : ", ") + std::string(word);
                refuse(value, "key \"" + std::string(key.str()) + "\" means nothing here; known are " + all);
            }
    }
    const toml::table& table(const toml::node& node, std::string_view key) const {
        const toml::table* const found = node.as_table();
        if (found == nullptr) refuse(node, "key \"" + std::string(key) + "\": must be a table");
        return *found;
    }

    /// A key that may be left out.
    template <class Number>
    std::optional<Number> number(const toml::table& table, std::string_view key, Number least,
                                 Number largest) const {
        const toml::node* const node = table.get(key);
        if (node == nullptr) return std::nullopt;
        if constexpr (std::is_integral_v<Number>) {
            const auto value = node->value_exact<std::int64_t>();
            if (value && *value >= static_cast<std::int64_t>(least) &&
                (std::is_same_v<Number, std::uint64_t> || *value <= static_cast<std::int64_t>(largest)))
                return static_cast<Number>(*value);
            refuse(*node, "key \"" + std::string(key) + "\": must be a whole number, " +
                              std::to_string(least) + " or more");
        } else {
            const auto value = node->value<double>(); // 1 is as good as 1.0
            if (value && *value >= least && *value <= largest) return *value;
            refuse(*node, "key \"" + std::string(key) + "\": must be a number in its range");
        }
    }
    double needed(const toml::table& table, std::string_view key, double least, double largest) const {
        if (const auto found = number(table, key, least, largest)) return *found;
        refuse(table, "key \"" + std::string(key) + "\" is missing");
    }

private:
    const std::string& where_;
};

} // namespace fluorescence
