// apps/path_tracer/prepared_textures.hpp - textures as kernels want them: one array of texels for all
// pictures and their smaller versions.
#pragma once
#include "prepared_scene.hpp"

#include <cstddef>
#include <vector>

namespace path_tracer {

/// What kernels call the least opacity that is opaque: SurfaceTextures::cutoff.
[[nodiscard]] float cutoff_of(const SurfaceDescription& surface);

/// Fills in what `prepared` has of textures, and gives its materials, which are those of the scene, theirs.
///
/// `places`: in the scene, of the triangles that are in `prepared`
/// Errors    invalid_argument for more texels than 32 bits can number
void prepare_textures(const Scene& scene, const std::vector<std::size_t>& places, PreparedScene& prepared);

/// Appends a picture that is no material's, without those of half the size, and returns its place.
uint32_t add_texture(const TextureImage& image, PreparedScene& prepared);

/// How bright triangles are on average, for the choice of shadow rays.
class EmissionMeans {
public:
    explicit EmissionMeans(const Scene& scene) : scene_(scene), of_images_(scene.images.size(), unknown) {}

    /// Luminance. With a texture: mostly that at some places, but 0 only if all of the picture is black.
    [[nodiscard]] double of(const SceneTriangle& triangle);

private:
    static constexpr double unknown = -1;
    [[nodiscard]] double of_image(uint32_t image);

    const Scene& scene_;
    std::vector<double> of_images_; ///< those that were needed
};

} // namespace path_tracer
