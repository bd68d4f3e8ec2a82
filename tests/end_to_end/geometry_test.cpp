// Scenes of any shape, size and place on every device: needles, closed rooms far from the origin, spheres
// where maps put them, polygons with holes. One sample a pixel: each has to show the closed form.
#include "apps/png_builder.hpp"
#include "end_to_end/path_tracer.hpp"
#include <devices/two_private_cpus.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>
#include <random>
#include <sstream>

namespace headrace::end_to_end {
namespace {

using Corner = std::array<double, 3>;

/// As many digits as a double has.
std::string text_of(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.17g", value);
    return text.data();
}
std::string view(Corner eye, Corner target, double degrees) {
    std::string text;
    for (const Corner& corner : {eye, target})
        for (const double value : corner) text += text_of(value) + ',';
    return text + text_of(degrees);
}

/// An OBJ file of polygons, turned, scaled and moved as a whole.
class Obj {
public:
    explicit Obj(double scale = 1, Corner shift = {0, 0, 0}, double angle = 0)
        : scale_(scale), shift_(shift), cosine_(std::cos(angle)), sine_(std::sin(angle)) {}

    [[nodiscard]] Corner placed(Corner c) const { // around two axes
        const double x = cosine_ * c[0] - sine_ * c[1], y = sine_ * c[0] + cosine_ * c[1];
        return {x * scale_ + shift_[0], (cosine_ * y - sine_ * c[2]) * scale_ + shift_[1],
                (sine_ * y + cosine_ * c[2]) * scale_ + shift_[2]};
    }
    void polygon(const std::vector<Corner>& corners) {
        const auto line = [this](const char* keyword, const Corner& values, const std::string& more = {}) {
            text_ << keyword;
            for (const double value : values) text_ << ' ' << text_of(value);
            text_ << more << '\n';
        };
        std::string face = "f";
        for (const Corner& corner : corners) {
            std::string colour;
            for (const double value : corner) colour += ' ' + text_of((value + 1) / 2);
            line("v", placed(corner), is_coloured_ ? colour : "");
            face += ' ' + std::to_string(++vertices_);
            if (is_textured_) {
                text_ << "vt " << text_of(corner[0]) << ' ' << text_of(corner[1] + corner[2]) << '\n';
                face += '/' + std::to_string(++places_);
            }
            if (!is_smooth_) continue;
            line("vn", corner);
            face += (is_textured_ ? "/" : "//") + std::to_string(++normals_);
        }
        text_ << face << '\n';
    }
    /// Polygons that follow are those of a sphere around the origin, and have its normals.
    void smooth() { is_smooth_ = true; }
    /// Polygons that follow have colours, which are their places between -1 and 1.
    void coloured(bool is_coloured) { is_coloured_ = is_coloured; }
    /// Polygons that follow have places in textures.
    void textured(bool is_textured) { is_textured_ = is_textured; }
    void material(const char* name) { text_ << "mtllib scene.mtl\nusemtl " << name << '\n'; }
    void box(Corner lo, Corner hi) {
        const auto corner = [&](int i) {
            return Corner{(i & 1 ? hi : lo)[0], (i & 2 ? hi : lo)[1], (i & 4 ? hi : lo)[2]};
        };
        for (const auto& face :
             {std::array{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}})
            polygon({corner(face[0]), corner(face[1]), corner(face[2]), corner(face[3])});
    }
    /// Along y, with ends: as thin and as long as one likes.
    void pole(double radius, double length, int sides) {
        std::vector<Corner> low, high;
        for (int i = 0; i < sides; ++i) {
            const double angle = 2 * std::numbers::pi * i / sides;
            low.push_back({radius * std::cos(angle), -length / 2, radius * std::sin(angle)});
            high.push_back({low.back()[0], length / 2, low.back()[2]});
        }
        for (std::size_t i = 0; i < low.size(); ++i) {
            const std::size_t next = (i + 1) % low.size();
            polygon({low[i], high[i], high[next], low[next]});
        }
        polygon(low);
        polygon({high.rbegin(), high.rend()});
    }
    /// Quads between circles of latitude.
    void sphere(int bands) {
        const auto at = [&](int band, int column) {
            const double up = std::numbers::pi * band / bands;
            const double around = 2 * std::numbers::pi * (column % (2 * bands)) / (2 * bands);
            const double radius = band == 0 || band == bands ? 0 : std::sin(up);
            return Corner{radius * std::cos(around), std::cos(up), radius * std::sin(around)};
        };
        for (int band = 0; band < bands; ++band)
            for (int column = 0; column < 2 * bands; ++column)
                polygon(
                    {at(band, column), at(band, column + 1), at(band + 1, column + 1), at(band + 1, column)});
    }
    [[nodiscard]] std::string text() const { return text_.str(); }

private:
    std::ostringstream text_;
    int vertices_ = 0, normals_ = 0, places_ = 0;
    bool is_smooth_ = false, is_coloured_ = false, is_textured_ = false;
    double scale_;
    Corner shift_;
    double cosine_, sine_;
};

class Geometry : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        const std::string devices = GetParam();
        if (devices != test::two_private_cpus) HEADRACE_SKIP_WITHOUT(devices);
    }
    /// 48 x 48 pixels, of one sample each unless it is said otherwise.
    Image shown(const Obj& obj, Corner eye, Corner target, double degrees, const Options& more,
                const char* samples = "1", const char* devices = nullptr) {
        folder_.write("scene.obj", obj.text());
        return render(folder_, Options{"--scene", "scene.obj", "--camera",
                                       view(obj.placed(eye), obj.placed(target), degrees), "--devices",
                                       test::device_list(devices != nullptr ? devices : GetParam()),
                                       "--width", "48", "--height", "48", "--spp", samples} +
                                   more);
    }
    /// A convex body under a white sky: half of the light, or the sky.
    void expect_half_or_sky(const Obj& obj, Corner eye, Corner target, double degrees) {
        std::size_t body = 0;
        for (const float value :
             shown(obj, eye, target, degrees, {"--albedo", "0.5", "--sky", "1,1,1"}).values) {
            body += value == 0.5f;
            ASSERT_TRUE(value == 0.5f || value == 1.0f) << "a ray came back to a convex body: " << value;
        }
        EXPECT_GT(body, 100u);
    }

    /// Pictures that are lit, and the same but for a few samples that rounding sends elsewhere.
    static void expect_same_light(const Image& here, const Image& on_processor) {
        ASSERT_EQ(here.values.size(), on_processor.values.size());
        std::size_t differing = 0, lighted = 0;
        for (std::size_t i = 0; i < here.values.size(); ++i) {
            differing +=
                std::abs(here.values[i] - on_processor.values[i]) > 1e-3f * (1 + on_processor.values[i]);
            lighted += on_processor.values[i] > 0;
        }
        EXPECT_LT(differing, here.values.size() / 50);
        EXPECT_GT(lighted, here.values.size() / 3);
    }

    Scratch folder_;
};

TEST_P(Geometry, NeedlesShowTheirAlbedo) {
    for (const double width : {0.02, 1e-3, 8e-6})
        for (const double angle : {0.0, 0.7}) {
            SCOPED_TRACE("width " + text_of(width) + ", turned by " + text_of(angle));
            Obj needle(1, {0, 0, 0}, angle);
            needle.polygon({{-4, 0, 0}, {4, 0, 0}, {4, width, 0}, {-4, width, 0}});
            const Corner middle{0.5, width / 2, 0};
            expect_half_or_sky(needle, {0.5, width / 2, 10 * width}, middle, 12);
        }
}

TEST_P(Geometry, NoRayGetsIntoAClosedPole) {
    for (const double radius : {0.02, 1e-4, 2e-5})
        for (const double angle : {0.0, 0.7}) {
            SCOPED_TRACE("radius " + text_of(radius) + ", turned by " + text_of(angle));
            Obj pole(1, {0, 0, 0}, angle);
            pole.pole(radius, 20, 24);
            expect_half_or_sky(pole, {5 * radius, 1, 10 * radius}, {0, 1, 0}, 15);
        }
}

TEST_P(Geometry, SizeAndPlaceChangeNothing) {
    for (const double scale : {1e-12, 1.0, 1e12})
        for (const double away : {0.0, 1e3, 1e5}) {
            SCOPED_TRACE("scale " + text_of(scale) + ", " + text_of(away) + " sizes away");
            Obj ball(scale, {away * scale, -away * scale, away * scale / 3}, 0.3);
            ball.sphere(8);
            expect_half_or_sky(ball, {1, 2, 4}, {0, 0, 0}, 30);
        }
}

TEST_P(Geometry, NoLightGetsIntoAClosedRoom) {
    for (const double away : {0.0, 100.0, 1000.0, 1e5, 2e5}) {
        SCOPED_TRACE("away " + text_of(away));
        Obj room(1, {away, away, away}, away == 100 ? 0.7 : 0);
        room.box({-1, -1, -1}, {1, 1, 1});
        for (const float value :
             shown(room, {0.2, 0.3, -0.1}, {1, 0.9, 0.8}, 100,
                   {"--albedo", "0.8", "--sky", "1000,1000,1000", "--max-depth", "32"}, "4")
                 .values)
            ASSERT_EQ(value, 0) << "the sky got in";
    }
}

TEST_P(Geometry, HolesOfPolygonsStayOpen) {
    // The square from (-1,-1,0) to (1,1,0) covers 0.6476 of this view, and both lack a quarter of it.
    const std::vector<Corner> keyhole = {{-1, -1, 0},    {1, -1, 0},      {1, 1, 0},      {-1, 1, 0},
                                         {-1, -1, 0},    {-0.5, -0.5, 0}, {-0.5, 0.5, 0}, {0.5, 0.5, 0},
                                         {0.5, -0.5, 0}, {-0.5, -0.5, 0}};
    const std::vector<Corner> corner_twice = {{-1, -1, 0}, {0, -1, 0}, {1, -1, 0}, {1, 1, 0},
                                              {0, 1, 0},   {0, 0, 0},  {0, 0, 0},  {-1, 0, 0}};
    for (const auto& polygon : {keyhole, corner_twice}) {
        Obj obj;
        obj.polygon(polygon);
        double sky = 0;
        const Image image = shown(obj, {0, 0, 3}, {0, 0, 0}, 45, {"--albedo", "0", "--sky", "1,1,1"}, "16");
        for (const float value : image.values) sky += static_cast<double>(value);
        // Only pixels on edges are noisy, and there are about 300 of them with 16 samples each.
        EXPECT_NEAR(1 - sky / static_cast<double>(image.values.size()), 0.4857, 0.002);
    }
}

TEST_P(Geometry, SpheresAreRoundFarFromTheOrigin) {
    const auto sphere_at = [&](Corner place) {
        Obj sphere(1, place);
        sphere.sphere(24);
        return shown(sphere, {0, 0, 5}, {0, 0, 0}, 30, {"--albedo", "0.5", "--sky", "1,1,1"});
    };
    const Image here = sphere_at({0, 0, 0}), there = sphere_at({5e5, 4.6e6, 30});
    std::size_t differing = 0; // where doubles (1e-9 m) move the outline past a ray
    for (std::size_t i = 0; i < here.values.size(); ++i) differing += here.values[i] != there.values[i];
    EXPECT_LE(differing, 6u); // two pixels
}

TEST_P(Geometry, SmoothBodiesShowTheirAlbedo) {
    Obj ball;
    ball.smooth();
    ball.sphere(6);
    expect_half_or_sky(ball, {1, 2, 4}, {0, 0, 0}, 30);
}

TEST_P(Geometry, SmoothBodiesAreLitAsOnTheProcessor) {
    folder_.write("scene.mtl", "newmtl matt\nKd 0.3 0.5 0.7\nKs 0.3 0.2 0.1\nillum 3\n"
                               "newmtl lamp\nKd 0 0 0\nKe 9 8 7\n");
    Obj obj;
    obj.material("matt");
    obj.smooth();
    obj.coloured(true);
    obj.sphere(6);
    obj.coloured(false);
    obj.polygon({{-3, -1, -3}, {-3, -1, 3}, {3, -1, 3}, {3, -1, -3}});
    obj.material("lamp");
    obj.polygon({{1, 3, 0}, {2, 3, 0}, {2, 3, 1}, {1, 3, 1}});
    const auto lit = [&](const char* devices) {
        return shown(obj, {1, 1, 4}, {0, 0, 0}, 40, {"--max-depth", "4"}, "4", devices);
    };
    const Image here = lit(GetParam()), on_processor = lit("cpu");
    expect_same_light(here, on_processor);
}

/// Of 16 x 8 pixels, any numbers but for those that `keep` sets.
std::string noise(int channels, const std::function<void(std::vector<std::uint16_t>& pixel)>& keep) {
    std::mt19937 random(static_cast<unsigned>(channels));
    std::uniform_int_distribution<int> level(0, 255);
    path_tracer::test::PngParts parts{.width = 16,
                                      .height = 8,
                                      .kind = channels == 4 ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB,
                                      .samples = {}};
    for (int i = 0; i < 16 * 8; ++i) {
        std::vector<std::uint16_t> pixel;
        for (int channel = 0; channel < channels; ++channel)
            pixel.push_back(static_cast<std::uint16_t>(level(random)));
        keep(pixel);
        parts.samples.insert(parts.samples.end(), pixel.begin(), pixel.end());
    }
    return png_of(parts);
}

TEST_P(Geometry, NormalsOfTexturesLoseNoLight) {
    folder_.write("normals.png",
                  noise(3, [](auto& pixel) { pixel[2] = std::max<std::uint16_t>(pixel[2], 140); }));
    folder_.write("scene.mtl", "newmtl rough\nKd 0.5 0.5 0.5\nnorm normals.png\n");
    Obj body;
    body.material("rough");
    body.textured(true);
    body.box({-1, -1, -1}, {1, 1, 1});
    expect_half_or_sky(body, {2, 3, 4}, {0, 0, 0}, 30);
}

TEST_P(Geometry, TexturedRoomsAreLitAsOnTheProcessor) {
    folder_.write("colours.png", noise(3, [](auto&) {}));
    folder_.write("leaves.png", noise(4, [](auto& pixel) { pixel[3] = pixel[3] < 128 ? 0 : pixel[3]; }));
    folder_.write("scene.mtl", "newmtl floor\nKd 0.8 0.8 0.8\nmap_Kd colours.png\nnorm colours.png\n"
                               "newmtl leaves\nKd 0.5 0.5 0.5\nmap_Kd leaves.png\nmap_d leaves.png\n"
                               "newmtl lamp\nKd 0 0 0\nKe 9 8 7\nmap_Ke colours.png\n");
    Obj obj;
    obj.textured(true);
    obj.material("floor");
    obj.polygon({{-3, -1, -3}, {-3, -1, 3}, {3, -1, 3}, {3, -1, -3}});
    obj.smooth();
    obj.sphere(6);
    obj.material("leaves");
    obj.polygon({{-2, 2, -2}, {2, 2, -2}, {2, 2, 2}, {-2, 2, 2}});
    obj.material("lamp");
    obj.polygon({{-1, 3, -1}, {1, 3, -1}, {1, 3, 1}, {-1, 3, 1}});
    for (const char* kernel : {"consumer", "producer"}) {
        const auto lit = [&](const char* devices) {
            return shown(obj, {1, 1, 4}, {0, 0, 0}, 60, {"--max-depth", "4", "--kernel", kernel}, "4",
                         devices);
        };
        const Image here = lit(GetParam()), on_processor = lit("cpu");
        expect_same_light(here, on_processor);
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, Geometry,
                         testing::Values("cpu", test::two_private_cpus, "opencl:pocl", "opencl:nvidia",
                                         "cuda:0", "hip:0"),
                         [](const auto& chosen) { return test_name(chosen.param); });

} // namespace
} // namespace headrace::end_to_end
