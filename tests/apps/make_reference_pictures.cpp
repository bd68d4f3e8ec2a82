// Makes the pictures that tests compare with: reference_pictures FOLDER [PATHS [MODEL]].
// Those in tests/apps/reference_pictures have 8192 paths a pixel, which takes about six minutes of a core.
#include "apps/reference_picture.hpp"

#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
    using namespace path_tracer::test;
    if (argc < 2) {
        std::cerr << "usage: reference_pictures FOLDER [PATHS [MODEL]]\n";
        return 2;
    }
    try {
        const std::filesystem::path folder = argv[1];
        const int paths = argc > 2 ? std::stoi(argv[2]) : 8192;
        for (const KhronosModel& model : khronos_models())
            if (argc < 4 || model.name == argv[3])
                write_picture(folder / (model.name + ".exr"), picture_of(model, paths));
    } catch (const std::exception& error) {
        std::cerr << "reference_pictures: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
