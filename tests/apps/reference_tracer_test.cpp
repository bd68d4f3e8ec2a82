// The reference tracer itself: against closed forms, and against the pictures that it made of models.
#include "apps/reference_gltf.hpp"
#include "apps/reference_picture.hpp"
#include "apps/reference_surface.hpp"
#include <core/scratch_folder.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace path_tracer::test {
namespace {

ReferencePicture stored(const KhronosModel& model) {
    return read_picture(std::filesystem::path(HEADRACE_REFERENCE_PICTURES) / (model.name + ".exr"));
}

/// Numbers of the same pixel of two estimates, which differ by no more than five of their errors.
void expect_alike(const ReferencePixel& a, const ReferencePixel& b) {
    const auto compare = [](double x, double y, double of_x, double of_y) {
        EXPECT_NEAR(x, y, 5 * std::hypot(of_x, of_y) + 1e-4);
    };
    compare(a.mean.x, b.mean.x, a.standard_error.x, b.standard_error.x);
    compare(a.mean.y, b.mean.y, a.standard_error.y, b.standard_error.y);
    compare(a.mean.z, b.mean.z, a.standard_error.z, b.standard_error.z);
}

TEST(ReferenceTracer, StillMakesItsPictures) {
    for (const KhronosModel& model : khronos_models()) {
        const ReferencePicture picture = stored(model);
        const ReferenceScene scene = read_reference_gltf(model.gltf);
        const ReferenceView view = model.view();
        ASSERT_EQ(picture.width, view.width);
        ASSERT_EQ(picture.height, view.height);
        EXPECT_EQ(picture.paths, 8192);
        ReferenceAlbedos albedos;
        for (std::size_t i = 0; i < 8; ++i) { // one in the middle of each of the first cells
            SCOPED_TRACE(model.name + ", " + model.cells[i].name);
            const std::size_t column = i % model.columns * KhronosModel::cell + KhronosModel::cell / 2,
                              row = i / model.columns * KhronosModel::cell + KhronosModel::cell / 2;
            expect_alike(reference_pixel(scene, albedos, view, column, row, 300),
                         picture.pixels[row * picture.width + column]);
        }
    }
}

TEST(ReferenceTracer, WritesPicturesThatItReads) {
    const KhronosModel model = khronos_models().front();
    const ReferencePicture picture = picture_of(model, 2);
    const headrace::test::ScratchFolder folder;
    write_picture(folder.path() / "picture.exr", picture);
    const ReferencePicture read = read_picture(folder.path() / "picture.exr");
    ASSERT_EQ(read.pixels.size(), picture.pixels.size());
    EXPECT_EQ(read.width, picture.width);
    EXPECT_EQ(read.paths, 2);
    for (std::size_t i = 0; i < read.pixels.size(); ++i) {
        EXPECT_FLOAT_EQ(static_cast<float>(read.pixels[i].mean.y),
                        static_cast<float>(picture.pixels[i].mean.y));
        const double error = picture.pixels[i].standard_error.z;
        EXPECT_NEAR(read.pixels[i].standard_error.z, error, 1e-3 * error + 1e-7);
    }
}

TEST(ReferenceTracer, LosesNoLightAtWhiteSurfaces) {
    ReferenceMaterial metal;
    metal.metallic = 1;
    ReferenceMaterial glass;
    glass.transmission = 1;
    glass.is_thin = false;
    ReferenceMaterial pane = glass;
    pane.is_thin = true;
    ReferenceMaterial paint;
    paint.head_on = {0.04, 0.04, 0.04};
    paint.edge = 1;
    ReferenceMaterial coated = paint;
    coated.coat = 1;
    coated.coat_roughness = 0.3;
    ReferenceMaterial cloth;
    cloth.sheen = {0.7, 0.7, 0.7};
    cloth.sheen_roughness = 0.5;
    ReferenceAlbedos albedos;
    ReferenceRandom random(3);
    for (ReferenceMaterial material : {metal, glass, pane, paint, coated, cloth})
        for (const double roughness : {0.0, 0.3, 0.8})
            for (const double cosine : {0.1, 0.4, 0.9}) {
                material.roughness = roughness;
                const Vector out{std::sqrt(1 - cosine * cosine), 0, cosine};
                const ReferenceSurface surface(material, albedos, out, {0, 0, 1}, {0, 0, 1}, true);
                constexpr int samples = 4000;
                double sum = 0, squares = 0;
                for (int i = 0; i < samples; ++i) {
                    const double weight = surface.choose(random).weight.y;
                    sum += weight / samples;
                    squares += weight * weight / samples;
                }
                const double noise = std::sqrt(std::max(0.0, squares - sum * sum) / samples);
                EXPECT_NEAR(sum, 1, 5 * noise + 0.003) << roughness << ", cosine " << cosine;
            }
}

} // namespace
} // namespace path_tracer::test
