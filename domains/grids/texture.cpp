// domains/grids/texture.cpp - see texture.hpp.
#include <headrace/domains/grids/texture.hpp>

#include <algorithm>

namespace headrace {

Texture::Texture(const Array<float>& pixels, Addressing addressing, Filter filter)
    : pixels_(pixels), addressing_(addressing), filter_(filter) {
    const Shape& shape = pixels.shape();
    if (shape.slices != shape.rows || static_cast<std::int64_t>(shape.rows) * shape.columns != shape.size)
        throw Error{ErrorKind::invalid_argument,
                    "'" + pixels.name() + "' is no picture: it has not two dimensions"};
}

Texture::~Texture() {
    if (textures_.empty()) return;
    try {
        wait(pixels_.tile());
    } catch (const Error&) { // a failed request has ended too
    }
}

Texture::OnController& Texture::place_of(Controller& controller, const Memory& memory) const {
    auto here = std::ranges::find(textures_, &controller, &OnController::controller);
    if (here == textures_.end()) here = textures_.insert(here, {&controller, nullptr, nullptr});
    const void* const of = memory.address() != nullptr ? memory.address() : memory.handle();
    if (here->memory != of) // the first use, or the controller has released the memory meanwhile
        *here = {&controller, of, controller.device().make_texture(memory, 0, rows(), columns())};
    return *here;
}

void Texture::refresh(OnController& here, Controller& controller) const {
    const std::uint64_t changes = pixels_.storage().changes();
    const bool failed = here.copied.state() && here.copied.state()->settled() && here.copied.outcome();
    if (here.texture->shows_memory() || (here.shows == changes && !failed)) return;
    const TileUse use{pixels_.tile(), Access::read};
    here.copied =
        controller.launch("texture of '" + pixels_.name() + "'", {&use, 1},
                          [texture = here.texture](const NativeStream& stream) { texture->refresh(stream); });
    here.shows = changes;
}

TextureView Texture::view_on(Controller& controller) const {
    const Memory& memory = controller.memory(pixels_.storage());
    TextureView view =
        texture_view(static_cast<const float*>(memory.address()), rows(), columns(), addressing_);
    const bool is_opencl = controller.device().info().technology == "opencl";
    if (filter_ == Filter::exact && !is_opencl) return view;

    const std::scoped_lock lock(mutex_); // until the copy is launched: later launches then follow it
    OnController& here = place_of(controller, memory);
    if (!here.texture && is_opencl)
        throw Error{ErrorKind::unsupported,
                    "no image of the device is as large as '" + pixels_.name() + "', " +
                        std::to_string(rows()) + " x " + std::to_string(columns()) +
                        "; its kernels can sample the array itself (headrace_sample_array)"}
            .on_device(controller.device().info().id);
    if (!here.texture) return view;
    refresh(here, controller);
    view.handle = here.texture->handle();
    return view;
}

} // namespace headrace
