// Textures of files: what glTF and MTL say of them, PNG of every kind, OpenEXR, and files that are missing,
// broken, huge, or not where they may be.
#include "apps/error_of.hpp"
#include "apps/gltf_builder.hpp"
#include "apps/png_builder.hpp"
#include "image.hpp"
#include "path.hpp"
#include "scene.hpp"
#include <core/scratch_folder.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

namespace path_tracer::test {
namespace {

using headrace::test::error_of;
using headrace::test::mentions;
using headrace::test::ScratchFolder;
using testing::HasSubstr;

double linear(double srgb) { return srgb <= 0.04045 ? srgb / 12.92 : std::pow((srgb + 0.055) / 1.055, 2.4); }

/// Two by two pixels: red and green above blue and white.
PngParts four_colours() {
    return {.width = 2, .height = 2, .samples = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255}};
}

Rgba texel(const TextureImage& image, std::size_t i) { return texel_value(image.texels.at(i)); }

void expect_texel(const TextureImage& image, std::size_t i, std::array<double, 4> expected) {
    const Rgba own = texel(image, i);
    EXPECT_NEAR(own.colour.r, expected[0], 4e-4) << i;
    EXPECT_NEAR(own.colour.g, expected[1], 4e-4) << i;
    EXPECT_NEAR(own.colour.b, expected[2], 4e-4) << i;
    EXPECT_NEAR(own.opacity, expected[3], 4e-4) << i;
}

// ---- pictures

TEST(TextureImages, AreLinearAndHaveTheirOpacity) {
    const TextureImage image = decode_texture("a.png",
                                              png_of({.width = 2,
                                                      .height = 1,
                                                      .kind = PNG_COLOR_TYPE_RGB_ALPHA,
                                                      .samples = {255, 128, 0, 255, 10, 0, 60, 51}}),
                                              TexelMeaning::reflectance);
    ASSERT_EQ(image.width, 2u);
    ASSERT_EQ(image.height, 1u);
    expect_texel(image, 0, {1, linear(128 / 255.0), 0, 1});
    expect_texel(image, 1, {linear(10 / 255.0), 0, linear(60 / 255.0), 0.2});
    EXPECT_FALSE(image.is_opaque);
    const TextureImage numbers =
        decode_texture("a.png", png_of({.samples = {255, 128, 0}}), TexelMeaning::numbers);
    expect_texel(numbers, 0, {1, 128 / 255.0, 0, 1});
    EXPECT_TRUE(numbers.is_opaque);
}

TEST(TextureImages, MayHaveSixteenBitsBeGreyOrHaveAPalette) {
    const auto decoded = [](const PngParts& parts, TexelMeaning meaning = TexelMeaning::numbers) {
        return decode_texture("a.png", png_of(parts), meaning);
    };
    expect_texel(decoded({.bits = 16, .samples = {0x8000, 0x0101, 0xffff}}), 0,
                 {0x8000 / 65535.0, 0x0101 / 65535.0, 1, 1});
    expect_texel(decoded({.kind = PNG_COLOR_TYPE_GRAY, .samples = {51}}), 0, {0.2, 0.2, 0.2, 1});
    expect_texel(decoded({.kind = PNG_COLOR_TYPE_GRAY_ALPHA, .samples = {51, 102}}), 0, {0.2, 0.2, 0.2, 0.4});
    expect_texel(decoded({.bits = 16, .kind = PNG_COLOR_TYPE_GRAY_ALPHA, .samples = {0x3333, 0x6666}}), 0,
                 {0.2, 0.2, 0.2, 0.4});
    const PngParts palette{.width = 2,
                           .height = 1,
                           .kind = PNG_COLOR_TYPE_PALETTE,
                           .samples = {1, 0},
                           .palette = {{255, 0, 51}, {51, 102, 255}},
                           .opacities = {255, 51}};
    expect_texel(decoded(palette), 0, {0.2, 0.4, 1, 0.2});
    expect_texel(decoded(palette), 1, {1, 0, 0.2, 1});
}

TEST(TextureImages, OfOpacityAreTheirOpacityOrTheirGrey) {
    const auto opacity = [](const PngParts& parts) {
        return texel(decode_texture("a.png", png_of(parts), TexelMeaning::opacity), 0).opacity;
    };
    EXPECT_NEAR(opacity({.kind = PNG_COLOR_TYPE_GRAY, .samples = {51}}), 0.2, 4e-4);
    EXPECT_NEAR(opacity({.samples = {51, 51, 51}}), 0.2, 4e-4);
    EXPECT_NEAR(opacity({.kind = PNG_COLOR_TYPE_RGB_ALPHA, .samples = {255, 255, 255, 102}}), 0.4, 4e-4);
}

TEST(TextureImages, OfOpenExrAreAsBrightAsTheyAre) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::vector<Rgb> pixels = {{0.25f, 7, 0.5f}, {-1, std::nanf(""), 0.125f}, {0, 1e6f, infinity}};
    const std::string bytes = encode_image(ImageFormat::exr, 3, 1, pixels);
    const TextureImage lamp = decode_texture("a.exr", bytes, TexelMeaning::radiance);
    expect_texel(lamp, 0, {0.25, 7, 0.5, 1});
    expect_texel(lamp, 1, {0, 0, 0.125, 1});
    expect_texel(lamp, 2, {0, 65504, 65504, 1});
    ASSERT_EQ(lamp.notes.size(), 2u);
    EXPECT_THAT(lamp.notes[0], HasSubstr("negative or NaN"));
    EXPECT_THAT(lamp.notes[1], HasSubstr("65504"));
    const TextureImage colour = decode_texture("a.exr", bytes, TexelMeaning::reflectance);
    expect_texel(colour, 0, {0.25, 1, 0.5, 1}); // nothing reflects more than it gets
    EXPECT_THAT(colour.notes.back(), HasSubstr("above 1"));
}

TEST(TextureImages, ThatAreBrokenOrHugeAreRefusedByName) {
    const std::string png = png_of(four_colours()),
                      exr = encode_image(ImageFormat::exr, 4, 4, std::vector<Rgb>(16));
    const auto refusal = [](const std::string& bytes) {
        return error_of(
            [&] { static_cast<void>(decode_texture("wall.png", bytes, TexelMeaning::reflectance)); });
    };
    for (const std::string& bytes :
         {png.substr(0, png.size() / 2), png.substr(0, 20), exr.substr(0, exr.size() / 2), exr.substr(0, 40),
          std::string("GIF89a"), std::string()})
        EXPECT_TRUE(mentions(refusal(bytes), "wall.png"));
    std::string huge = png; // as the header says
    const std::array<char, 8> sides = {0, 0, '\xff', '\xff', 0, 0, '\xff', '\xff'};
    huge.replace(16, sides.size(), sides.data(), sides.size());
    EXPECT_TRUE(mentions(refusal(huge), "wall.png"));
    for (std::size_t i = 8; i < exr.size(); ++i) { // any byte may be wrong
        std::string damaged = exr;
        damaged[i] = static_cast<char>(~damaged[i]);
        try {
            static_cast<void>(decode_texture("wall.exr", damaged, TexelMeaning::radiance));
        } catch (const headrace::Error& error) {
            EXPECT_TRUE(mentions(error, "wall.exr"));
        }
    }
}

TEST(TextureImages, HalvedKeepTheirMeanAtAnySize) {
    for (const auto& [width, height] : {std::pair{7u, 5u}, {1u, 6u}, {3u, 1u}, {2u, 2u}, {9u, 16u}}) {
        PngParts parts{.width = width, .height = height, .kind = PNG_COLOR_TYPE_GRAY, .samples = {}};
        for (std::uint32_t i = 0; i < width * height; ++i)
            parts.samples.push_back(static_cast<std::uint16_t>(i * 37 % 256));
        TextureImage image = decode_texture("a.png", png_of(parts), TexelMeaning::numbers);
        double mean = 0;
        for (std::size_t i = 0; i < image.texels.size(); ++i)
            mean += double{texel(image, i).colour.r} / static_cast<double>(image.texels.size());
        while (image.texels.size() > 1) {
            const TextureImage next = halved(image);
            EXPECT_EQ(next.width, std::max(image.width / 2, 1u));
            EXPECT_EQ(next.height, std::max(image.height / 2, 1u));
            image = next;
        }
        expect_texel(image, 0, {mean, mean, mean, 1});
    }
}

TEST(TextureImages, HalvedByOpacityHaveTheColourOfWhatIsSeen) {
    const TextureImage leaf = decode_texture("a.png",
                                             png_of({.width = 2,
                                                     .height = 1,
                                                     .kind = PNG_COLOR_TYPE_RGB_ALPHA,
                                                     .samples = {255, 0, 51, 255, 0, 255, 0, 0}}),
                                             TexelMeaning::numbers);
    expect_texel(halved(leaf, true), 0, {1, 0, 0.2, 0.5});
    expect_texel(halved(leaf), 0, {0.5, 0.5, 0.1, 0.5});
}

// ---- files of scenes

class TexturedFiles : public testing::Test {
protected:
    static constexpr float albedo = 0.3f;
    ScratchFolder folder_;

    static std::string notes_of(const Scene& scene) {
        std::string all;
        for (const std::string& note : scene.notes) all += note + '\n';
        return all;
    }
    static const SurfaceDescription& material_of(const Scene& scene, std::size_t triangle = 0) {
        return scene.materials.at(scene.triangles.at(triangle).material);
    }
    /// Of corner 0, 1 or 2, after the transform.
    static std::array<double, 2> place_of(const Scene& scene, const TextureUse& use, std::size_t corner) {
        const TexturePoint at = scene.places.at(scene.triangles.at(0).places + use.set)[corner];
        const auto& m = use.transform;
        return {m[0] * at.u + m[1] * at.v + m[2], m[3] * at.u + m[4] * at.v + m[5]};
    }

    /// A triangle (0,0,0), (1,0,0), (0,1,0) with the places (0,1), (1,1), (0,0) in set 0, and (0.5,0.5) in
    /// set 1.
    std::string gltf(const std::string& material, const std::string& extra = "", bool has_places = true) {
        std::string buffer(9 * 4 + 6 * 4 + 6 * 4, '\0');
        const std::array<float, 21> numbers = {0, 0, 0, 1, 0,    0,    0,    1,    0,    0,   1,
                                               1, 1, 0, 0, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};
        std::memcpy(buffer.data(), numbers.data(), buffer.size());
        return R"({"asset":{"version":"2.0"},"nodes":[{"mesh":0}],"meshes":[{"primitives":[{"attributes":{"POSITION":0)" +
               std::string(has_places ? R"(,"TEXCOORD_0":1,"TEXCOORD_1":2)" : "") +
               R"(},"material":0}]}],"accessors":[{"bufferView":0,"componentType":5126,"type":"VEC3","count":3},)"
               R"({"bufferView":1,"componentType":5126,"type":"VEC2","count":3},)"
               R"({"bufferView":2,"componentType":5126,"type":"VEC2","count":3}],"bufferViews":[{"buffer":0,"byteLength":36},)"
               R"({"buffer":0,"byteOffset":36,"byteLength":24},{"buffer":0,"byteOffset":60,"byteLength":24}],)"
               R"("buffers":[{"byteLength":84,"uri":"data:;base64,)" +
               base64(buffer) + R"("}],"materials":[)" + material + "]" + extra + "}";
    }
    static std::string picture(const PngParts& parts = four_colours()) {
        return R"(,"images":[{"uri":"data:image/png;base64,)" + base64(png_of(parts)) +
               R"("}],"textures":[{"source":0}])";
    }
    Scene load(const std::string& text) { return load_scene(folder_.write("s.gltf", text), albedo); }
    Scene load_obj(const std::string& mtl, const std::string& vt = "vt 0 0\nvt 1 0\nvt 0 1\n",
                   const std::string& face = "f 1/1 2/2 3/3") {
        folder_.write("s.mtl", "newmtl m\n" + mtl);
        return load_scene(folder_.write("s.obj", "mtllib s.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n" + vt +
                                                     "usemtl m\n" + face + "\n"),
                          albedo);
    }
};

const std::string coloured =
    R"({"pbrMetallicRoughness":{"baseColorTexture":{"index":0},"metallicFactor":0}})";

TEST_F(TexturedFiles, GltfCountsFromTheUpperLeft) {
    const Scene scene = load(gltf(coloured, picture()));
    EXPECT_EQ(notes_of(scene), "");
    const SurfaceDescription& material = material_of(scene);
    ASSERT_TRUE(material.textures.colour);
    EXPECT_EQ(material.diffuse().r, 1.0f);
    EXPECT_EQ(place_of(scene, *material.textures.colour, 0), (std::array{0.0, 1.0}));
    EXPECT_EQ(place_of(scene, *material.textures.colour, 2), (std::array{0.0, 0.0}));
    expect_texel(scene.images.at(0), 0, {1, 0, 0, 1}); // the upper left one is red
}

TEST_F(TexturedFiles, ObjCountsFromTheLowerLeft) {
    folder_.write("four.png", png_of(four_colours()));
    const Scene scene = load_obj("Kd 0.5 0.5 0.5\nmap_Kd four.png\n");
    EXPECT_EQ(notes_of(scene), "");
    const SurfaceDescription& material = material_of(scene);
    ASSERT_TRUE(material.textures.colour);
    EXPECT_EQ(material.diffuse().r, 0.5f);
    EXPECT_EQ(place_of(scene, *material.textures.colour, 0), (std::array{0.0, 1.0})); // below: v is down here
    EXPECT_EQ(place_of(scene, *material.textures.colour, 2), (std::array{0.0, 0.0}));
}

TEST_F(TexturedFiles, GltfTransformsAsTheExtensionSays) {
    // Counter-clockwise in a picture whose v is down: (1, 0) goes to (cos, -sin).
    const auto use_of = [&](const std::string& transform) {
        return *material_of(
                    load(gltf(
                        R"({"pbrMetallicRoughness":{"baseColorTexture":{"index":0,"extensions":{"KHR_texture_transform":{)" +
                            transform + "}}}}}",
                        picture() +
                            R"(,"extensionsUsed":["KHR_texture_transform"],"extensionsRequired":["KHR_texture_transform"])")))
                    .textures.colour;
    };
    const double quarter = std::numbers::pi / 2;
    const TextureUse turned = use_of(R"("rotation":1.5707963267948966,"scale":[2,3],"offset":[0.25,0.5])");
    // (u, v) -> scaled (2u, 3v) -> turned (3v, -2u) -> shifted
    const std::array<double, 6> expected = {2 * std::cos(quarter), 3, 0.25, -2, 3 * std::cos(quarter), 0.5};
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(turned.transform[i], expected[i], 1e-12) << i;
    EXPECT_EQ(use_of(R"("texCoord":1)").set, 1u);
}

TEST_F(TexturedFiles, GltfMayUseSeveralSetsOfPlaces) {
    const Scene scene = load(
        gltf(R"({"pbrMetallicRoughness":{"baseColorTexture":{"index":0,"texCoord":1},"metallicFactor":0}})",
             picture()));
    const TextureUse& use = *material_of(scene).textures.colour;
    EXPECT_EQ(place_of(scene, use, 1), (std::array{0.5, 0.5}));
}

TEST_F(TexturedFiles, GltfSaysWhatIsBeyondTheEdges) {
    const auto use_of = [&](const std::string& sampler) {
        return *material_of(
                    load(gltf(coloured, R"(,"images":[{"uri":"data:image/png;base64,)" +
                                            base64(png_of(four_colours())) +
                                            R"("}],"textures":[{"source":0,"sampler":0}],"samplers":[{)" +
                                            sampler + "}]")))
                    .textures.colour;
    };
    EXPECT_EQ(use_of("").wrap_u, WRAP_REPEATS);
    EXPECT_EQ(use_of(R"("wrapS":33071)").wrap_u, WRAP_KEEPS_EDGE);
    EXPECT_EQ(use_of(R"("wrapT":33648)").wrap_v, WRAP_MIRRORS);
    EXPECT_FALSE(use_of(R"("magFilter":9729)").is_pixelated);
    EXPECT_TRUE(use_of(R"("magFilter":9728)").is_pixelated);
}

TEST_F(TexturedFiles, GltfMayHaveAllKindsOfTextures) {
    const Scene scene = load(gltf(
        R"({"pbrMetallicRoughness":{"baseColorTexture":{"index":0},"metallicRoughnessTexture":{"index":0},"metallicFactor":0.5},)"
        R"("emissiveFactor":[1,2,3],"emissiveTexture":{"index":0},"normalTexture":{"index":0,"scale":0.5},)"
        R"("extensions":{"KHR_materials_transmission":{"transmissionFactor":0.25,"transmissionTexture":{"index":0}}}})",
        picture()));
    EXPECT_EQ(notes_of(scene), "");
    const SurfaceTextureUses& uses = material_of(scene).textures;
    for (const auto* use : {&uses.colour, &uses.metal, &uses.transmission, &uses.emission, &uses.normal})
        EXPECT_TRUE(*use);
    EXPECT_EQ(material_of(scene).metallic, 0.5f);
    EXPECT_EQ(material_of(scene).transmitted, 0.25f);
    EXPECT_EQ(uses.normal_scale, 0.5f);
    EXPECT_EQ(material_of(scene).emission.b, 3.0f);
    EXPECT_EQ(scene.images.size(), 3u) << "as colours, as numbers, and as radiance";
}

TEST_F(TexturedFiles, GltfImagesMayBeInBuffersAndFiles) {
    folder_.write("a b.png", png_of(four_colours()));
    const Scene file = load(gltf(coloured, R"(,"images":[{"uri":"a%20b.png"}],"textures":[{"source":0}])"));
    EXPECT_TRUE(material_of(file).textures.colour);
    const std::string png = png_of(four_colours());
    std::string text =
        gltf(coloured, R"(,"images":[{"bufferView":3,"mimeType":"image/png"}],"textures":[{"source":0}])");
    text.replace(text.find(R"("byteOffset":60,"byteLength":24})"), 32,
                 R"("byteOffset":60,"byteLength":24},{"buffer":1,"byteLength":)" +
                     std::to_string(png.size()) + "}");
    text.replace(text.find(R"(}],"materials")"), 2,
                 R"(},{"byteLength":)" + std::to_string(png.size()) + R"(,"uri":"data:;base64,)" +
                     base64(png) + R"("}])");
    const Scene buffer = load(text);
    EXPECT_EQ(notes_of(buffer), "");
    EXPECT_TRUE(material_of(buffer).textures.colour);
}

TEST_F(TexturedFiles, GltfIsNotOpaqueWhereItSaysSo) {
    const PngParts clear{.kind = PNG_COLOR_TYPE_RGB_ALPHA, .samples = {255, 255, 255, 51}};
    const auto material = [&](const std::string& mode, const PngParts& parts, double factor = 1) {
        return material_of(load(gltf(
            R"({"alphaMode":")" + mode +
                R"(","alphaCutoff":0.25,"pbrMetallicRoughness":{"baseColorTexture":{"index":0},"baseColorFactor":[1,1,1,)" +
                std::to_string(factor) + "]}}",
            picture(parts))));
    };
    EXPECT_EQ(material("OPAQUE", clear).passing, Passing::nothing);
    EXPECT_EQ(material("MASK", clear).passing, Passing::all);
    EXPECT_EQ(material("MASK", clear).cutoff, 0.25f);
    EXPECT_TRUE(material("MASK", clear).textures.opacity);
    EXPECT_EQ(material("BLEND", clear).passing, Passing::its_share);
    EXPECT_EQ(material("BLEND", four_colours()).passing, Passing::nothing) << "no pixel lets light through";
    EXPECT_EQ(material("BLEND", four_colours(), 0.5).passing, Passing::its_share);
    EXPECT_EQ(material("BLEND", four_colours(), 0.5).opacity, 0.5f);
    EXPECT_EQ(material("MASK", four_colours(), 0.5).passing, Passing::nothing);
}

TEST_F(TexturedFiles, MtlOptionsAreFollowedOrNamed) {
    folder_.write("a b.png", png_of(four_colours()));
    const Scene scene = load_obj("map_Kd -s 2 4 1 -o 0.5 0.25 -clamp on a b.png\n");
    EXPECT_EQ(notes_of(scene), "");
    const TextureUse& use = *material_of(scene).textures.colour;
    EXPECT_EQ(use.wrap_u, WRAP_KEEPS_EDGE);
    // The file's (0, 0) goes to (0.5, 0.25) and its (1, 0) to (2.5, 0.25), where v is up.
    EXPECT_EQ(place_of(scene, use, 0), (std::array{0.5, 0.75}));
    EXPECT_EQ(place_of(scene, use, 1), (std::array{2.5, 0.75}));
    EXPECT_EQ(place_of(scene, use, 2), (std::array{0.5, 1 - 4.25}));
    EXPECT_THAT(notes_of(load_obj("map_Kd -mm 0.2 0.8 a b.png\n")), HasSubstr("-mm"));
}

TEST_F(TexturedFiles, MtlHasEmissionOpacityAndNormals) {
    folder_.write("grey.png", png_of({.kind = PNG_COLOR_TYPE_GRAY, .samples = {51}}));
    const Scene scene =
        load_obj("Kd 0.5 0.5 0.5\nKe 3 3 3\nmap_Ke grey.png\nmap_d grey.png\nnorm grey.png\n");
    EXPECT_EQ(notes_of(scene), "");
    const SurfaceDescription& material = material_of(scene);
    EXPECT_TRUE(material.textures.emission && material.textures.opacity && material.textures.normal);
    EXPECT_EQ(material.emission.r, 3.0f);
    EXPECT_EQ(material.passing, Passing::its_share);
    EXPECT_FALSE(material_of(load_obj("Ke 0 0 0\nmap_Ke grey.png\n")).textures.emission)
        << "it is switched off";
    EXPECT_EQ(material_of(load_obj("d 0.25\n")).opacity, 0.25f);
    EXPECT_EQ(material_of(load_obj("Tr 0.25\n")).opacity, 0.75f);
    EXPECT_EQ(material_of(load_obj("d 0.25\n")).passing, Passing::its_share);
    EXPECT_EQ(material_of(load_obj("d 1\n")).passing, Passing::nothing);
    // What is dropped leaves no factor behind.
    EXPECT_EQ(material_of(load_obj("d 0\nmap_d gone.png\n")).passing, Passing::nothing);
    EXPECT_EQ(material_of(load_obj("d 0.25\nmap_d grey.png\n")).opacity, 0.25f);
    EXPECT_TRUE(error_of([&] { load_obj("d 0,5\n"); }).is_users_mistake());
    EXPECT_THAT(notes_of(load_obj("illum 7\nnorm grey.png\n")), HasSubstr("norm"));
}

TEST_F(TexturedFiles, OnePictureMayHaveColoursAndTheirOpacity) {
    folder_.write("leaf.png", png_of({.kind = PNG_COLOR_TYPE_RGB_ALPHA, .samples = {10, 20, 30, 51}}));
    folder_.write("card.png", png_of({.kind = PNG_COLOR_TYPE_RGB_ALPHA, .samples = {10, 20, 30, 255}}));
    const Scene leaf = load_obj("map_Kd leaf.png\nmap_d leaf.png\n"),
                card = load_obj("map_Kd card.png\nmap_d card.png\n");
    EXPECT_EQ(leaf.images.size(), 1u);
    EXPECT_EQ(material_of(leaf).passing, Passing::its_share);
    EXPECT_EQ(material_of(card).passing, Passing::nothing);
    EXPECT_EQ(material_of(load_obj("map_d card.png\n")).passing, Passing::its_share) << "a mask in grey";
}

TEST_F(TexturedFiles, MtlPathsAreThoseOfTheMtlFile) {
    std::filesystem::create_directories(folder_.path() / "sub" / "maps");
    folder_.write("sub/maps/four.png", png_of(four_colours()));
    folder_.write("sub/m.mtl", "newmtl m\nmap_Kd maps\\four.png\n");
    const Scene scene = load_scene(
        folder_.write("s.obj",
                      "mtllib sub/m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl m\nf 1/1 2/1 3/1\n"),
        albedo);
    EXPECT_TRUE(material_of(scene).textures.colour) << notes_of(scene);
}

/// A colour whose texture cannot be shown is albedo, and there is one note that says why.
#define HEADRACE_EXPECT_STANDS_IN(scene, why)                                                                \
    do {                                                                                                     \
        const Scene& shown = scene;                                                                          \
        EXPECT_EQ(material_of(shown).diffuse().r, albedo);                                                   \
        EXPECT_FALSE(material_of(shown).textures.colour);                                                    \
        EXPECT_THAT(notes_of(shown), HasSubstr(why));                                                        \
    } while (false)

TEST_F(TexturedFiles, AlbedoStandsInForWhatIsMissingOrBroken) {
    folder_.write("broken.png", png_of(four_colours()).substr(0, 40));
    folder_.write("a.tga", "no picture");
    folder_.write("empty.png", "");
    for (const auto& [uri, why] : {std::pair{"gone.png", "gone.png"},
                                   {"broken.png", "broken"},
                                   {"empty.png", "is empty"},
                                   {"a.tga", "neither PNG"}}) {
        HEADRACE_EXPECT_STANDS_IN(load(gltf(coloured, R"(,"images":[{"uri":")" + std::string(uri) +
                                                          R"("}],"textures":[{"source":0}])")),
                                  why);
        HEADRACE_EXPECT_STANDS_IN(load_obj("Kd 1 1 1\nmap_Kd " + std::string(uri) + "\n"), why);
    }
    HEADRACE_EXPECT_STANDS_IN(load(gltf(coloured, picture(), false)), "without texture coordinates");
    HEADRACE_EXPECT_STANDS_IN(load(gltf(coloured)), "none of the file");
    HEADRACE_EXPECT_STANDS_IN(
        load(gltf(coloured, R"(,"textures":[{"extensions":{"EXT_texture_webp":{"source":0}}}])")), "format");
    HEADRACE_EXPECT_STANDS_IN(
        load(gltf(coloured, R"(,"images":[{"uri":"data:image/png,abc"}],"textures":[{"source":0}])")),
        "base64");
    folder_.write("four.png", png_of(four_colours()));
    HEADRACE_EXPECT_STANDS_IN(load_obj("map_Kd four.png\n", "", "f 1 2 3"), "without texture coordinates");
    HEADRACE_EXPECT_STANDS_IN(load_obj("map_Kd four.png\n", "vt 0 0\n", "f 1/1 2/9 3/1"),
                              "without texture coordinates");
}

TEST_F(TexturedFiles, OutsideTheFolderAreRefused) {
    for (const char* name : {"../x.png", "/etc/passwd"}) {
        const auto by_gltf = error_of([&] {
            load(gltf(coloured,
                      R"(,"images":[{"uri":")" + std::string(name) + R"("}],"textures":[{"source":0}])"));
        });
        EXPECT_TRUE(mentions(by_gltf, "--allow-outside") && by_gltf.is_users_mistake());
        const auto by_mtl = error_of([&] { load_obj(std::string("map_Kd ") + name + "\n"); });
        EXPECT_TRUE(mentions(by_mtl, "--allow-outside") && by_mtl.is_users_mistake());
    }
    std::filesystem::create_directory(folder_.path() / "folder.png");
    EXPECT_TRUE(error_of([&] { load_obj("map_Kd folder.png\n"); }).is_users_mistake());
}

TEST_F(TexturedFiles, PlacesThatAreNoNumbersAreNamed) {
    folder_.write("four.png", png_of(four_colours()));
    for (const char* vt : {"vt nan 0\n", "vt 1e30 0\n", "vt inf 0\n", "vt 0,5 0\n", "vt 0 x\n"}) {
        const Scene scene = load_obj("map_Kd four.png\n", vt, "f 1/1 2/1 3/1");
        EXPECT_THAT(notes_of(scene), HasSubstr("texture coordinates that are not finite")) << vt;
        EXPECT_TRUE(std::isfinite(scene.places.at(0)[0].u));
    }
}

TEST_F(TexturedFiles, WhatIsTooBrightIsDimmedWithItsTextures) {
    const Scene scene = load(gltf(
        R"({"pbrMetallicRoughness":{"baseColorFactor":[2,2,2,1],"metallicRoughnessTexture":{"index":0},"metallicFactor":0.5}})",
        picture()));
    EXPECT_THAT(notes_of(scene), HasSubstr("dimmed"));
    EXPECT_EQ(material_of(scene).base.r, 1.0f);
}

TEST_F(TexturedFiles, NumbersWithoutMeasureAreNamedOrRefused) {
    EXPECT_THAT(
        notes_of(load(gltf(
            R"({"pbrMetallicRoughness":{"baseColorTexture":{"index":0,"extensions":{"KHR_texture_transform":{"scale":[1e30,1]}}}}})",
            picture()))),
        HasSubstr("beyond 1e9"));
    EXPECT_TRUE(error_of([&] {
                    load(gltf(R"({"normalTexture":{"index":0,"scale":1e20}})", picture()));
                }).is_users_mistake());
    folder_.write("four.png", png_of(four_colours()));
    EXPECT_THAT(notes_of(load_obj("map_Kd -s 1e20 1 1 four.png\n")), HasSubstr("beyond 1e9"));
}

TEST_F(TexturedFiles, ThatChangeNothingAreNotRead) {
    const Scene scene = load(gltf(
        R"({"pbrMetallicRoughness":{"metallicFactor":0,"roughnessFactor":0,"metallicRoughnessTexture":{"index":0}},"emissiveTexture":{"index":0}})",
        R"(,"images":[{"uri":"../secret.png"}],"textures":[{"source":0}])"));
    EXPECT_TRUE(scene.images.empty());
    EXPECT_EQ(notes_of(scene), "");
}

/// A square of one face, as MeshLab writes it.
std::string textured_ply(const std::string& vertex_properties, const std::array<std::string, 4>& vertices,
                         const std::string& face_properties, const std::string& face) {
    std::string text = "ply\nformat ascii 1.0\ncomment TextureFile four colours.png\nelement vertex "
                       "4\nproperty float x\nproperty float y\nproperty float z\n" +
                       vertex_properties + "element face 1\nproperty list uchar int vertex_indices\n" +
                       face_properties + "end_header\n";
    const std::array<std::string, 4> places = {"0 0 0 ", "1 0 0 ", "1 1 0 ", "0 1 0 "};
    for (std::size_t i = 0; i < 4; ++i) text += places[i] + vertices[i] + "\n";
    return text + "4 0 1 2 3 " + face + "\n";
}

TEST_F(TexturedFiles, PlyHasPlacesAtVerticesOrAtCorners) {
    folder_.write("four colours.png", png_of(four_colours()));
    const auto load_ply = [&](const std::string& text) {
        return load_scene(folder_.write("s.ply", text), albedo);
    };
    const auto expect_shown = [&](const Scene& scene) {
        EXPECT_EQ(notes_of(scene), "");
        ASSERT_TRUE(material_of(scene).textures.colour);
        EXPECT_EQ(material_of(scene).diffuse().r, 1.0f);
        ASSERT_EQ(scene.triangles.size(), 2u);
        for (const SceneTriangle& triangle : scene.triangles) // u is x, and v is down
            for (std::size_t k = 0; k < 3; ++k) {
                const Point corner = std::array{triangle.a, triangle.b, triangle.c}[k];
                EXPECT_EQ(scene.places.at(triangle.places)[k].u, static_cast<float>(corner.x));
                EXPECT_EQ(scene.places.at(triangle.places)[k].v, static_cast<float>(1 - corner.y));
            }
    };
    const std::array<std::string, 4> places = {"0 0", "1 0", "1 1", "0 1"}, none = {"", "", "", ""};
    for (const char* names :
         {"property float s\nproperty float t\n", "property float texture_u\nproperty float texture_v\n",
          "property double u\nproperty double v\n"})
        expect_shown(load_ply(textured_ply(names, places, "", "")));
    expect_shown(load_ply(textured_ply(
        "", none, "property list uchar float texcoord\nproperty int texnumber\n", "8 0 0 1 0 1 1 0 1 0")));
    // What is not used may be wrong.
    std::string unused = textured_ply("property float s\nproperty float t\n", {"a b", "c d", "e f", "g h"},
                                      "property list uchar float texcoord\n", "2 x y");
    unused.replace(unused.find("comment TextureFile"), 19, "comment No texture ");
    EXPECT_EQ(notes_of(load_ply(unused)), "");
    // What cannot be shown is named.
    HEADRACE_EXPECT_STANDS_IN(load_ply(textured_ply("", none, "", "")), "without texture coordinates");
    HEADRACE_EXPECT_STANDS_IN(
        load_ply(textured_ply("", none, "property list uchar float texcoord\n", "6 0 0 1 0 1 1")),
        "two for each corner");
    std::filesystem::remove(folder_.path() / "four colours.png");
    HEADRACE_EXPECT_STANDS_IN(load_ply(textured_ply("property float s\nproperty float t\n", places, "", "")),
                              "is not there");
    const auto outside = error_of([&] {
        std::string text = textured_ply("property float s\nproperty float t\n", places, "", "");
        text.replace(text.find("four colours.png"), 16, "../x.png");
        load_ply(text);
    });
    EXPECT_TRUE(mentions(outside, "--allow-outside"));
}

TEST_F(TexturedFiles, ABlackFactorBesideATextureIsTakenForWhite) {
    folder_.write("four.png", png_of(four_colours()));
    const Scene scene = load_obj("Kd 0 0 0\nmap_Kd four.png\n"); // as some exporters write it
    EXPECT_EQ(material_of(scene).diffuse().r, 1.0f);
    EXPECT_THAT(notes_of(scene), HasSubstr("taken for white"));
}

} // namespace
} // namespace path_tracer::test
