// apps/fluorescence/plot.cpp - see plot.hpp.
#include "plot.hpp"

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

namespace fluorescence {
namespace {

using headrace::Error;
using headrace::ErrorKind;

/// Sizes in pixels: of a map, and of what is written around it.
constexpr double map_width = 640, map_height = 360, left = 80, right = 130, top = 50, bottom = 60;
constexpr double most_decades = 6; ///< darker cells are as dark as can be

/// A colour, parts of red, green and blue.
struct Colour {
    double red, green, blue;
};
Colour colour_of(double part) {
    constexpr Colour along[] = {
        {0.05, 0.03, 0.20}, {0.25, 0.12, 0.45}, {0.65, 0.20, 0.40}, {0.95, 0.50, 0.20}, {1, 0.95, 0.60}};
    constexpr std::size_t last = std::size(along) - 1;
    const double place = std::clamp(part, 0.0, 1.0) * last;
    const std::size_t i = std::min(static_cast<std::size_t>(place), last - 1);
    const double rest = place - static_cast<double>(i);
    const auto between = [rest](double a, double b) { return a + rest * (b - a); };
    return {between(along[i].red, along[i + 1].red), between(along[i].green, along[i + 1].green),
            between(along[i].blue, along[i + 1].blue)};
}

/// A map: cells by depth and across; negative where nothing is known.
struct Map {
    std::string title;
    std::size_t depths, columns;
    double depth, first, last; ///< cm: how deep, and from where to where across
    std::vector<double> cells;
};

/// mua at a depth, or 0 below the tissue.
double mua_at(const Problem& problem, double depth, bool emission) {
    for (const LayerSpec& layer : problem.layers) {
        if (depth < layer.thickness)
            return emission ? layer.emission.value_or(layer.excitation).mua : layer.excitation.mua;
        depth -= layer.thickness;
    }
    return 0;
}

Map map_of(const Problem& problem, const Settings& settings, const Grids& grids, bool emission) {
    const GridSpec& grid = problem.grid;
    const auto& shape = grids.absorption_shape;
    const bool is_xyz = settings.grid == GridChoice::xyz;
    const std::size_t rows = is_xyz ? shape[1] : 1;
    Map map{emission ? "fluorescent light" : "light of the beam",
            shape[0],
            shape.back(),
            grid.dz * static_cast<double>(shape[0]),
            0,
            0,
            {}};
    const double width = (is_xyz ? grid.dx.value_or(grid.dr) : grid.dr) * static_cast<double>(map.columns);
    map.first = is_xyz ? -width / 2 : 0;
    map.last = map.first + width;
    // The row, or the two rows, that the beam meets.
    const std::size_t first_row = (rows - 1) / 2, last_row = rows / 2;
    const std::vector<double>& fluence = grids.fluence[emission ? 1 : 0];
    const std::vector<double>& cells = fluence.empty() ? grids.absorption[emission ? 1 : 0] : fluence;
    for (std::size_t z = 0; z < map.depths; ++z) {
        // Without the fluence by ways, what is absorbed tells it, where anything is.
        const double mua =
            fluence.empty() ? mua_at(problem, (static_cast<double>(z) + 0.5) * grid.dz, emission) : 1;
        for (std::size_t column = 0; column < map.columns; ++column) {
            double sum = 0;
            for (std::size_t row = first_row; row <= last_row; ++row)
                sum += cells[(z * rows + row) * map.columns + column];
            sum /= static_cast<double>(last_row - first_row + 1);
            map.cells.push_back(mua > 0 ? std::max(0.0, sum / mua) : -1);
        }
    }
    return map;
}

/// Round distances between marks: some five on an axis.
double step_of(double length) {
    const double about = length / 5, power = std::pow(10, std::floor(std::log10(about)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= about) return factor * power;
    return 10 * power;
}

std::string text_of(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", std::abs(number) < 1e-12 ? 0 : number);
    return text;
}

class Drawing {
public:
    Drawing(double width, double height)
        : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width),
                                              static_cast<int>(height)),
                   cairo_surface_destroy),
          cairo_(cairo_create(surface_.get()), cairo_destroy) {
        cairo_set_source_rgb(cairo_.get(), 1, 1, 1);
        cairo_paint(cairo_.get());
        cairo_select_font_face(cairo_.get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
        cairo_set_font_size(cairo_.get(), 14);
    }

    void fill(double x, double y, double width, double height, const Colour& colour) {
        cairo_set_source_rgb(cairo_.get(), colour.red, colour.green, colour.blue);
        cairo_rectangle(cairo_.get(), x, y, width, height);
        cairo_fill(cairo_.get());
    }
    void frame(double x, double y, double width, double height) {
        cairo_set_source_rgb(cairo_.get(), 0, 0, 0);
        cairo_set_line_width(cairo_.get(), 1);
        cairo_rectangle(cairo_.get(), x + 0.5, y + 0.5, width, height);
        cairo_stroke(cairo_.get());
    }
    /// `across`, `down`: the part of the text's size that lies before the place.
    void write(const std::string& text, double x, double y, double across, double down) {
        cairo_text_extents_t size;
        cairo_text_extents(cairo_.get(), text.c_str(), &size);
        cairo_set_source_rgb(cairo_.get(), 0, 0, 0);
        cairo_move_to(cairo_.get(), x - across * size.width - size.x_bearing,
                      y - down * size.height - size.y_bearing);
        cairo_show_text(cairo_.get(), text.c_str());
    }

    [[nodiscard]] std::string png() {
        std::string bytes;
        const auto append = [](void* to, const unsigned char* data, unsigned size) {
            static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), size);
            return CAIRO_STATUS_SUCCESS;
        };
        check(cairo_status(cairo_.get()));
        check(cairo_surface_write_to_png_stream(surface_.get(), append, &bytes));
        return bytes;
    }

private:
    static void check(cairo_status_t status) {
        if (status == CAIRO_STATUS_SUCCESS) return;
        throw Error{status == CAIRO_STATUS_NO_MEMORY ? ErrorKind::out_of_memory : ErrorKind::io,
                    std::string("plot: ") + cairo_status_to_string(status)};
    }

    std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface_;
    std::unique_ptr<cairo_t, void (*)(cairo_t*)> cairo_;
};

void draw(Drawing& drawing, double y, const Map& map) {
    const double most = *std::ranges::max_element(map.cells);
    const double upper = most > 0 ? std::ceil(std::log10(most)) : 0;
    double lower = upper - 1; // whole decades
    for (const double cell : map.cells)
        if (cell > 0) lower = std::min(lower, std::max(upper - most_decades, std::floor(std::log10(cell))));

    const double wide = map_width / static_cast<double>(map.columns),
                 high = map_height / static_cast<double>(map.depths);
    for (std::size_t i = 0; i < map.cells.size(); ++i) {
        const double cell = map.cells[i], part = cell > 0 ? (std::log10(cell) - lower) / (upper - lower) : 0;
        const std::size_t column = i % map.columns, row = i / map.columns;
        // Whole pixels: edges that are half covered would shine through.
        const double x0 = std::floor(wide * static_cast<double>(column)),
                     x1 = std::floor(wide * static_cast<double>(column + 1)),
                     y0 = std::floor(high * static_cast<double>(row)),
                     y1 = std::floor(high * static_cast<double>(row + 1));
        drawing.fill(left + x0, y + top + y0, x1 - x0, y1 - y0,
                     cell < 0 ? Colour{0.8, 0.8, 0.8} : colour_of(part));
    }
    drawing.frame(left, y + top, map_width, map_height);

    drawing.write("Fluence of the " + map.title + " [1/cm2 per packet]", left + map_width / 2, y + top - 12,
                  0.5, 1);
    const double below = y + top + map_height;
    const double across = step_of(map.last - map.first), down = step_of(map.depth);
    for (double mark = std::ceil(map.first / across) * across; mark <= map.last * (1 + 1e-9);
         mark += across) {
        const double x = left + (mark - map.first) / (map.last - map.first) * map_width;
        drawing.fill(std::floor(x), below, 1, 5, {0, 0, 0});
        drawing.write(text_of(mark), x, below + 10, 0.5, 0);
    }
    for (double mark = 0; mark <= map.depth * (1 + 1e-9); mark += down) {
        const double at = y + top + mark / map.depth * map_height;
        drawing.fill(left - 5, std::floor(at), 5, 1, {0, 0, 0});
        drawing.write(text_of(mark), left - 10, at, 1, 0.5);
    }
    drawing.write(map.first < 0 ? "x [cm]" : "radius [cm]", left + map_width / 2, below + 30, 0.5, 0);
    drawing.write("depth [cm]", 10, y + top - 12, 0, 1);

    const double bar = left + map_width + 30;
    for (int i = 0; i < static_cast<int>(map_height); ++i)
        drawing.fill(bar, below - 1 - i, 20, 1, colour_of(i / (map_height - 1)));
    drawing.frame(bar, y + top, 20, map_height);
    for (double decade = lower; decade <= upper; ++decade)
        drawing.write("1e" + text_of(decade), bar + 28,
                      below - (decade - lower) / (upper - lower) * map_height, 0, 0.5);
}

} // namespace

std::string plot_of(const Problem& problem, const Settings& settings, const Grids& grids) {
    std::vector<Map> maps{map_of(problem, settings, grids, false)};
    const auto is_light = [](double cell) { return cell > 0; };
    if (std::ranges::any_of(grids.absorption[1], is_light) || std::ranges::any_of(grids.fluence[1], is_light))
        maps.push_back(map_of(problem, settings, grids, true));
    constexpr double height = top + map_height + bottom;
    Drawing drawing(left + map_width + right, height * static_cast<double>(maps.size()));
    for (std::size_t i = 0; i < maps.size(); ++i) draw(drawing, height * static_cast<double>(i), maps[i]);
    return drawing.png();
}

} // namespace fluorescence
