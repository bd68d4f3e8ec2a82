// apps/fluorescence/read_toml.cpp - problems as TOML files; what .mci files cannot say, fluorescence, is in
// there.
#include "layout.h"
#include "problem.hpp"
#include <headrace/core/error.hpp>

#include <toml++/toml.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace fluorescence {
namespace {

using headrace::Error;
using headrace::ErrorKind;

constexpr double no_limit = 1e30;

/// Every complaint names file, line and key.
class TomlReader {
public:
    explicit TomlReader(const std::string& where) : where_(where) {}

    [[noreturn]] void refuse(toml::source_index line, const std::string& why) const {
        throw Error{ErrorKind::invalid_argument, where_ + ": line " + std::to_string(line) + ": " + why};
    }
    [[noreturn]] void refuse(const toml::node& node, const std::string& why) const {
        refuse(node.source().begin.line, why);
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

Optical read_optics(const TomlReader& reader, const toml::table& table) {
    return {reader.needed(table, "mua", 0, no_limit), reader.needed(table, "mus", 0, no_limit),
            reader.number(table, "g", -1.0, 1.0).value_or(0)};
}

LayerSpec read_layer(const TomlReader& reader, const toml::table& table) {
    reader.allow(table, {"n", "mua", "mus", "g", "d", "emission", "fluorophore"});
    LayerSpec layer;
    layer.n = reader.needed(table, "n", least_n, most_n);
    layer.excitation = read_optics(reader, table);
    layer.thickness = reader.needed(table, "d", 0, std::numeric_limits<double>::infinity());
    if (const toml::node* const node = table.get("emission")) {
        const toml::table& emission = reader.table(*node, "emission");
        reader.allow(emission, {"mua", "mus", "g"});
        layer.emission = read_optics(reader, emission);
    }
    if (const toml::node* const node = table.get("fluorophore")) {
        const toml::table& fluorophore = reader.table(*node, "fluorophore");
        reader.allow(fluorophore, {"mua", "quantum_yield"});
        layer.fluorophore_mua = reader.needed(fluorophore, "mua", 0, no_limit);
        layer.quantum_yield = reader.needed(fluorophore, "quantum_yield", 0, 1);
    }
    if (const auto why = complaint(layer)) reader.refuse(table, *why);
    return layer;
}

GridSpec read_grid(const TomlReader& reader, const toml::table& table) {
    reader.allow(table, {"dz", "dr", "nz", "nr", "na", "dx", "dy", "nx", "ny"});
    GridSpec grid;
    const auto size = [&](std::string_view key) { return reader.number(table, key, 1e-9, no_limit); };
    const auto count = [&](std::string_view key) { return reader.number(table, key, 1, 1 << 20); };
    grid.dz = size("dz").value_or(grid.dz);
    grid.dr = size("dr").value_or(grid.dr);
    grid.nz = count("nz").value_or(grid.nz);
    grid.nr = count("nr").value_or(grid.nr);
    grid.na = count("na").value_or(grid.na);
    grid.dx = size("dx");
    grid.dy = size("dy");
    grid.nx = count("nx");
    grid.ny = count("ny");
    return grid;
}

} // namespace

Problem parse_toml(const std::string& text, const std::string& where) {
    const TomlReader reader(where);
    toml::table file;
    try {
        file = toml::parse(text);
    } catch (const toml::parse_error& error) {
        reader.refuse(error.source().begin.line, std::string(error.description()));
    }
    reader.allow(file, {"name", "n_above", "n_below", "photons", "seed", "grid", "layer"});
    Problem problem;
    problem.name = file["name"].value_or(std::filesystem::path(where).stem().string());
    problem.n_above = reader.number(file, "n_above", least_n, most_n).value_or(1);
    problem.n_below = reader.number(file, "n_below", least_n, most_n).value_or(1);
    problem.photons =
        reader.number<std::uint64_t>(file, "photons", 1, std::uint64_t{1} << 55).value_or(problem.photons);
    problem.seed = reader.number<std::uint64_t>(file, "seed", 0, UINT64_MAX);
    if (const toml::node* const node = file.get("grid"))
        problem.grid = read_grid(reader, reader.table(*node, "grid"));
    const toml::node* const layers = file.get("layer");
    if (layers == nullptr || layers->as_array() == nullptr || layers->as_array()->empty())
        reader.refuse(layers != nullptr ? layers->source().begin.line : 1,
                      "no layers: write [[layer]] with n, mua, mus, g and d for each, the uppermost first");
    if (layers->as_array()->size() > FLUORESCENCE_MOST_LAYERS)
        reader.refuse(*layers, "more than " + std::to_string(FLUORESCENCE_MOST_LAYERS) + " layers");
    for (const toml::node& node : *layers->as_array())
        problem.layers.push_back(read_layer(reader, reader.table(node, "layer")));
    return problem;
}

} // namespace fluorescence
