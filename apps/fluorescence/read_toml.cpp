// apps/fluorescence/read_toml.cpp - problems as TOML files, which say what .mci files cannot.
#include "read_toml.hpp"
#include "layout.h"
#include "problem.hpp"
#include "program/named_file.hpp"
#include "toml_reader.hpp"

#include <cmath>
#include <limits>
#include <string_view>

namespace fluorescence {
namespace {

constexpr double no_limit = 1e30;
constexpr std::size_t most_table_rows = 1 << 22;

constexpr std::string_view phase_kinds = "henyey-greenstein, modified-henyey-greenstein, rayleigh, tabulated";

Phase read_table(const TomlReader& reader, const toml::node& file) {
    constexpr std::uint64_t largest = std::uint64_t{64} << 20;
    const auto name = file.value_exact<std::string>();
    if (!name || name->empty() || name->find('\0') != std::string::npos)
        reader.refuse(file, "key \"file\": must be the name of a CSV file, cos_theta, p");
    const std::filesystem::path place = std::filesystem::path(reader.where()).parent_path() / *name;
    const std::string whose = "the file " + place.string();
    if (std::filesystem::path(*name).is_absolute() || !program::is_below_folder_of(reader.where(), place))
        reader.refuse(file, whose + " is not below the folder of this one; copy it there");
    std::string begin = reader.where() + ": " + whose;
    Phase phase;
    phase.kind = PhaseKind::tabulated;
    phase.table =
        parse_phase_csv(program::read_regular_file(place, begin + ", which ", largest, "64 MiB"), begin);
    return phase;
}

/// Henyey and Greenstein's unless said.
Phase read_phase(const TomlReader& reader, const toml::node& node) {
    Phase phase;
    const toml::table* const table = node.as_table();
    const toml::node* const named = table != nullptr ? table->get("kind") : &node;
    if (named == nullptr) reader.refuse(node, "key \"kind\" is missing");
    const std::string kind = named->value_exact<std::string>().value_or("");
    const auto allow = [&](std::initializer_list<std::string_view> known) {
        if (table != nullptr) reader.allow(*table, known);
    };
    if (kind == "henyey-greenstein") {
        allow({"kind"});
    } else if (kind == "rayleigh") {
        allow({"kind"});
        phase.kind = PhaseKind::rayleigh;
    } else if (kind == "modified-henyey-greenstein") {
        allow({"kind", "part"});
        if (table == nullptr)
            reader.refuse(node, "key \"phase\": write { kind = \"" + kind + "\", part = 0.9 }");
        phase.kind = PhaseKind::modified_henyey_greenstein;
        phase.part = reader.needed(*table, "part", 0, 1);
    } else if (kind == "tabulated") {
        allow({"kind", "file"});
        const toml::node* const file = table != nullptr ? table->get("file") : nullptr;
        if (file == nullptr)
            reader.refuse(node, "key \"phase\": write { kind = \"tabulated\", file = \"p.csv\" }");
        phase = read_table(reader, *file);
    } else {
        reader.refuse(*named, "a phase function is one of " + std::string(phase_kinds));
    }
    return phase;
}

/// `layer`: whose phase function holds where neither one nor g is said.
Optical read_optics(const TomlReader& reader, const toml::table& table, const Optical& layer) {
    Optical optical{reader.needed(table, "mua", 0, no_limit),
                    reader.needed(table, "mus", 0, no_limit),
                    reader.number(table, "g", -1.0, 1.0).value_or(0),
                    {}};
    const toml::node* const g = table.get("g");
    if (const toml::node* const node = table.get("phase")) {
        optical.phase = read_phase(reader, *node);
    } else if (g == nullptr) {
        optical.phase = layer.phase;
        optical.g = layer.g;
        return optical;
    }
    const PhaseKind kind = optical.phase.kind;
    if (g != nullptr && (kind == PhaseKind::rayleigh || kind == PhaseKind::tabulated))
        reader.refuse(*g, "key \"g\": this phase function has a mean cosine of its own; leave it out");
    if (g == nullptr && kind == PhaseKind::modified_henyey_greenstein)
        reader.refuse(table, "key \"g\" is missing: of the Henyey-Greenstein part");
    return optical;
}

/// Rows of tables at both wavelengths, each of which takes memory of its own.
std::size_t table_rows(const LayerSpec& layer) {
    return layer.excitation.phase.table.size() + layer.emission.value_or(layer.excitation).phase.table.size();
}

LayerSpec read_layer(const TomlReader& reader, const toml::table& table) {
    reader.allow(table, {"n", "mua", "mus", "g", "phase", "d", "emission", "fluorophore"});
    LayerSpec layer;
    layer.n = reader.needed(table, "n", least_n, most_n);
    layer.excitation = read_optics(reader, table, {});
    layer.thickness = reader.needed(table, "d", 0, std::numeric_limits<double>::infinity());
    if (const toml::node* const node = table.get("emission")) {
        const toml::table& emission = reader.table(*node, "emission");
        reader.allow(emission, {"mua", "mus", "g", "phase"});
        layer.emission = read_optics(reader, emission, layer.excitation);
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

/// Each kind has the keys that mean something to it.
SourceSpec read_source(const TomlReader& reader, const toml::table& table) {
    constexpr double largest = 1e6; // cm: squares of it are exact enough
    const toml::node* const node = table.get("kind");
    if (node == nullptr) reader.refuse(table, "key \"kind\" is missing");
    const std::string kind = node->value_exact<std::string>().value_or("");
    SourceSpec source;
    if (kind == "pencil") {
        reader.allow(table, {"kind"});
    } else if (kind == "gaussian" || kind == "disc") {
        reader.allow(table, {"kind", "radius"});
        source.kind = kind == "disc" ? SourceKind::disc : SourceKind::gaussian;
        source.radius = reader.needed(table, "radius", 0, largest);
    } else if (kind == "isotropic") {
        reader.allow(table, {"kind", "depth"});
        source.kind = SourceKind::isotropic;
        source.depth = reader.number(table, "depth", 0.0, no_limit).value_or(0);
    } else if (kind == "oblique") {
        reader.allow(table, {"kind", "angle"});
        source.kind = SourceKind::oblique;
        source.angle = reader.needed(table, "angle", 0, 89.999);
    } else if (kind == "fibre") {
        reader.allow(table, {"kind", "radius", "numerical_aperture", "depth"});
        source.kind = SourceKind::fibre;
        source.radius = reader.needed(table, "radius", 0, largest);
        source.numerical_aperture = reader.needed(table, "numerical_aperture", 0, most_n);
        source.depth = reader.number(table, "depth", 0.0, no_limit).value_or(0);
    } else {
        reader.refuse(*node, "a source is one of pencil, gaussian, disc, isotropic, oblique, fibre");
    }
    return source;
}

DetectorSpec read_detector(const TomlReader& reader, const toml::table& table) {
    reader.allow(table, {"position", "radius", "numerical_aperture", "side"});
    DetectorSpec detector;
    const toml::node* const position = table.get("position");
    if (position == nullptr)
        reader.refuse(table, "key \"position\" is missing: [x, y] or the distance from the axis, in cm");
    const toml::array* const both = position->as_array();
    const auto coordinate = [&](const toml::node* node) {
        const auto value = node != nullptr ? node->value<double>() : std::nullopt;
        if (!value || !(std::abs(*value) <= 1e6))
            reader.refuse(*position, "key \"position\": must be [x, y] or one number, in cm");
        return *value;
    };
    if (both != nullptr && both->size() != 2)
        reader.refuse(*position, "key \"position\": must be [x, y] or one number, in cm");
    detector.x = coordinate(both != nullptr ? both->get(0) : position);
    detector.y = both != nullptr ? coordinate(both->get(1)) : 0;
    detector.radius = reader.needed(table, "radius", 0, 1e6);
    if (detector.radius == 0) reader.refuse(table, "key \"radius\": must be more than 0");
    detector.numerical_aperture =
        reader.number(table, "numerical_aperture", 0.0, most_n).value_or(detector.numerical_aperture);
    if (const toml::node* const node = table.get("side")) {
        const std::string side = node->value_exact<std::string>().value_or("");
        if (side != "above" && side != "below") reader.refuse(*node, "key \"side\": is above or below");
        detector.is_below = side == "below";
    }
    return detector;
}

TimeSpec read_time(const TomlReader& reader, const toml::table& table) {
    reader.allow(table, {"step", "gates"});
    TimeSpec time;
    time.step = reader.needed(table, "step", 1e-6, 1e12);
    const auto gates = reader.number(table, "gates", 1, 1 << 20);
    if (!gates) reader.refuse(table, "key \"gates\" is missing");
    time.gates = static_cast<std::uint32_t>(*gates);
    return time;
}

/// Detectors and gates, which need room together.
void read_detection(const TomlReader& reader, const toml::table& file, Problem& problem) {
    if (const toml::node* const node = file.get("detector")) {
        const toml::array* const detectors = node->as_array();
        if (detectors == nullptr)
            reader.refuse(*node, "write [[detector]], with position and radius, for each");
        if (problem.layers.size() > FLUORESCENCE_MOST_PATHS)
            reader.refuse(*node, "detectors know the paths in at most " +
                                     std::to_string(FLUORESCENCE_MOST_PATHS) + " layers");
        if (detectors->size() > 1000) reader.refuse(*node, "more than 1000 detectors");
        for (const toml::node& each : *detectors)
            problem.detectors.push_back(read_detector(reader, reader.table(each, "detector")));
    }
    if (const toml::node* const node = file.get("time")) {
        problem.time = read_time(reader, reader.table(*node, "time"));
        if ((problem.detectors.size() + 2) * problem.time.gates > std::size_t{1} << 26)
            reader.refuse(*node, "more than 2^26 gates of all detectors; ask for fewer");
    }
}

} // namespace

Problem parse_toml(const std::string& text, const std::string& where) {
    toml::table file;
    try {
        file = toml::parse(text);
    } catch (const toml::parse_error& error) {
        TomlReader(where).refuse(error.source().begin.line, std::string(error.description()));
    }
    return problem_of(file, where);
}

Problem problem_of(const toml::table& file, const std::string& where) {
    const TomlReader reader(where);
    reader.allow(file, {"name", "n_above", "n_below", "photons", "seed", "grid", "layer", "source",
                        "detector", "time"});
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
        reader.refuse(layers != nullptr ? *layers : file,
                      "no layers: write [[layer]] with n, mua, mus, g and d for each, the uppermost first");
    if (layers->as_array()->size() > FLUORESCENCE_MOST_LAYERS)
        reader.refuse(*layers, "more than " + std::to_string(FLUORESCENCE_MOST_LAYERS) + " layers");
    std::size_t rows = 0;
    for (const toml::node& node : *layers->as_array()) {
        // Of a file, its line says which layer it is.
        const std::string layer =
            is_of_file(node) ? where : where + ": layer " + std::to_string(problem.layers.size() + 1);
        const TomlReader of_layer(layer);
        problem.layers.push_back(read_layer(of_layer, of_layer.table(node, "layer")));
        rows += table_rows(problem.layers.back());
        if (rows > most_table_rows)
            reader.refuse(node,
                          "the tables of all layers up to this one, at both wavelengths, have more than "
                          "2^22 rows; use shorter ones");
    }
    if (const toml::node* const node = file.get("source")) {
        problem.source = read_source(reader, reader.table(*node, "source"));
        if (const auto why = source_complaint(problem)) reader.refuse(*node, "source: " + *why);
    }
    read_detection(reader, file, problem);
    return problem;
}

} // namespace fluorescence
