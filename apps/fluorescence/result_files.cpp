// apps/fluorescence/result_files.cpp - see result_files.hpp.
#include "result_files.hpp"
#include "program/printable.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

namespace fluorescence {
namespace {

using std::numbers::pi;

std::string number(const char* form, double value) {
    char text[40];
    std::snprintf(text, sizeof text, form, value);
    return text;
}

/// MCML's text, section by section, line for line: readers count lines.
class Mco {
public:
    void line(const std::string& text = {}) { text_ += text + '\n'; }
    void fraction(double value, const char* remark) { line(number("%-14.6G", value) + " \t#" + remark); }
    /// A number in a line.
    void column(const char* heading, const char* form, std::span<const double> values) {
        line(heading);
        for (const double value : values) line(number(form, value));
        line();
    }
    /// Five numbers in a line, behind six lines: what they are, their order, and a name.
    void table(const std::string& letter, const char* unit, const std::string& count, const char* last,
               std::span<const double> values) {
        const auto row = [&](const std::string& r) {
            return "# " + letter + "[" + r + "][0], [" + r + "][1],..[" + r + "][" + count + "-1]";
        };
        line("# " + letter + unit);
        line(row("0"));
        line(row("1"));
        line("# ...");
        line(row("nr-1"));
        line(last);
        for (std::size_t i = 0; i < values.size(); ++i)
            text_ += number("%12.4E ", values[i]) + (i % 5 == 4 ? "\n" : "");
        line();
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    std::string text_;
};

void write_input(Mco& text, const Problem& problem, std::uint64_t photons) {
    const auto words = [](std::initializer_list<double> values) {
        std::string line;
        for (const double value : values) line += number("%G", value) + "\t";
        return line;
    };
    const GridSpec& grid = problem.grid;
    text.line("InParm \t\t\t# Input parameters. cm is used.");
    text.line(program::printable(problem.name) + " \tA\t\t# output file name, ASCII.");
    text.line(std::to_string(photons) + " \t\t\t# No. of photons");
    text.line(words({grid.dz, grid.dr}) + "\t# dz, dr [cm]");
    text.line(std::to_string(grid.nz) + "\t" + std::to_string(grid.nr) + "\t" + std::to_string(grid.na) +
              "\t# No. of dz, dr, da.");
    text.line();
    text.line(std::to_string(problem.layers.size()) + "\t\t\t\t\t# Number of layers");
    text.line("#n\tmua\tmus\tg\td\t# One line for each layer");
    text.line(words({problem.n_above}) + "\t\t\t\t# n for medium above");
    for (std::size_t i = 0; i < problem.layers.size(); ++i) {
        const LayerSpec& layer = problem.layers[i];
        text.line(words({layer.n, layer.excitation.mua, layer.excitation.mus, layer.excitation.g,
                         layer.thickness}) +
                  "# layer " + std::to_string(i + 1));
    }
    text.line(words({problem.n_below}) + "\t\t\t\t# n for medium below");
    text.line();
}

/// What escapes on one side: by radius in 1/cm2, by angle in 1/sr.
struct Escape {
    std::vector<double> by_radius, by_angle;

    Escape(const GridSpec& grid, std::span<const double> cells)
        : by_radius(static_cast<std::size_t>(grid.nr)), by_angle(static_cast<std::size_t>(grid.na)) {
        const double step = pi / 2 / grid.na;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::size_t r = i / by_angle.size(), a = i % by_angle.size();
            const double angle = (static_cast<double>(a) + 0.5) * step;
            const double cone = 4 * pi * std::sin(angle) * std::sin(step / 2); // its solid angle
            const double area = 2 * pi * (static_cast<double>(r) + 0.5) * grid.dr * grid.dr;
            by_radius[r] += cells[i] * cone * std::cos(angle);
            by_angle[a] += cells[i] * area * std::cos(angle);
        }
    }
};

void append(std::string& to, const void* from, std::size_t bytes) {
    to.append(static_cast<const char*>(from), bytes);
}

} // namespace

std::string mco_of(const Problem& problem, const Settings& settings, const Totals& totals, const Grids& grids,
                   double seconds) {
    const GridSpec& grid = problem.grid;
    const std::size_t depths = grids.absorption_shape[0], radii = grids.absorption_shape[1];
    std::vector<double> by_depth(depths), by_radius_first(depths * radii), layers;
    for (std::size_t z = 0; z < depths; ++z)
        for (std::size_t r = 0; r < radii; ++r) {
            const double density = grids.absorption[0][z * radii + r];
            by_depth[z] += density * 2 * pi * (static_cast<double>(r) + 0.5) * grid.dr * grid.dr;
            by_radius_first[r * depths + z] = density;
        }
    for (const Estimate& layer : totals.absorbed_per_layer) layers.push_back(layer.value);
    const Escape reflected(grid, grids.escape[0][0]), transmitted(grid, grids.escape[0][1]);

    Mco text;
    text.line("A1 \t# Version number of the file format.");
    text.line();
    text.line("####");
    text.line("# Data categories include: ");
    text.line("# InParm, RAT, ");
    text.line("# A_l, A_z, Rd_r, Rd_a, Tt_r, Tt_a, ");
    text.line("# A_rz, Rd_ra, Tt_ra ");
    text.line("####");
    text.line();
    text.line("# User time: " + number("%8.2f", seconds) + " sec = " + number("%8.2f", seconds / 3600) +
              " hr.   Simulation time of this run.");
    text.line();
    write_input(text, problem, settings.photons);
    text.line("RAT #Reflectance, absorption, transmission. ");
    text.fraction(totals.specular.value, "Specular reflectance [-]");
    text.fraction(totals.reflectance.value, "Diffuse reflectance [-]");
    text.fraction(totals.absorbed.value, "Absorbed fraction [-]");
    text.fraction(totals.transmittance.value, "Transmittance [-]");
    text.line();
    text.column("A_l #Absorption as a function of layer. [-]", "%12.4G", layers);
    const char* const form = "%12.4E";
    text.column("A_z #A[0], [1],..A[nz-1]. [1/cm]", form, by_depth);
    text.column("Rd_r #Rd[0], [1],..Rd[nr-1]. [1/cm2]", form, reflected.by_radius);
    text.column("Rd_a #Rd[0], [1],..Rd[na-1]. [sr-1]", form, reflected.by_angle);
    text.column("Tt_r #Tt[0], [1],..Tt[nr-1]. [1/cm2]", form, transmitted.by_radius);
    text.column("Tt_a #Tt[0], [1],..Tt[na-1]. [sr-1]", form, transmitted.by_angle);
    text.table("A", "[r][z]. [1/cm3]", "nz", "A_rz", by_radius_first);
    text.table("Rd", "[r][angle]. [1/(cm2sr)].", "na", "Rd_ra", grids.escape[0][0]);
    text.table("Tt", "[r][angle]. [1/(cm2sr)].", "na", "Tt_ra", grids.escape[0][1]);
    return text.take();
}

std::string vti_of(const Problem& problem, const Settings& settings, const Grids& grids) {
    const auto& shape = grids.absorption_shape;
    const bool is_xyz = settings.grid == GridChoice::xyz;
    const GridSpec& grid = problem.grid;
    const std::size_t columns = shape.back(), rows = is_xyz ? shape[1] : 1;
    const double dx = is_xyz ? grid.dx.value_or(grid.dr) : grid.dr, dy = grid.dy.value_or(grid.dr);
    const std::string extent = "0 " + std::to_string(columns) + " 0 " + std::to_string(is_xyz ? rows : 0) +
                               " 0 " + std::to_string(shape[0]);
    const auto three = [](double x, double y, double z) {
        return number("%.9g", x) + " " + number("%.9g", y) + " " + number("%.9g", z);
    };
    const std::uint64_t bytes = grids.absorption[0].size() * sizeof(double);
    std::string text =
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" "
        "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<ImageData WholeExtent=\"" +
        extent + "\" Origin=\"" +
        (is_xyz ? three(-0.5 * dx * static_cast<double>(columns), -0.5 * dy * static_cast<double>(rows), 0)
                : three(0, 0, 0)) +
        "\" Spacing=\"" + three(dx, dy, grid.dz) + "\">\n<Piece Extent=\"" + extent +
        "\"><CellData Scalars=\"absorption\">\n";
    std::vector<std::pair<const char*, std::span<const double>>> arrays{
        {"absorption", grids.absorption[0]}, {"emission_absorption", grids.absorption[1]}};
    if (!grids.fluence[0].empty()) {
        arrays.emplace_back("fluence", grids.fluence[0]);
        arrays.emplace_back("emission_fluence", grids.fluence[1]);
    }
    for (std::size_t i = 0; i < arrays.size(); ++i)
        text += std::string("<DataArray type=\"Float64\" Name=\"") + arrays[i].first +
                "\" format=\"appended\" offset=\"" + std::to_string(i * (sizeof bytes + bytes)) + "\"/>\n";
    text += "</CellData></Piece></ImageData>\n<AppendedData encoding=\"raw\">\n_";
    for (const auto& [name, cells] : arrays) {
        append(text, &bytes, sizeof bytes);
        append(text, cells.data(), bytes);
    }
    return text + "\n</AppendedData>\n</VTKFile>\n";
}

} // namespace fluorescence
