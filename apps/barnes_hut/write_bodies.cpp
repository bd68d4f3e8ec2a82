// apps/barnes_hut/write_bodies.cpp - see write_bodies.hpp.
#include "write_bodies.hpp"
#include "gadget.hpp"
#include "program/npy.hpp"
#include "read_bodies.hpp"
#include <headrace/core/error.hpp>

#include <array>
#include <charconv>

namespace barnes_hut {
namespace {

using headrace::Error;
using headrace::ErrorKind;

/// Rows of the columns that `names` has, as text or as an array of float64, by the extension. Reading gives
/// the same numbers again.
std::string table_of(const std::filesystem::path& file, const std::vector<double>& numbers,
                     const std::vector<std::string>& names) {
    if (is_npy_name(file)) {
        std::vector<std::size_t> shape{numbers.size() / names.size()};
        if (names.size() > 1) shape.push_back(names.size());
        return program::npy_of(numbers, shape);
    }
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) text += (i > 0 ? "," : "") + names[i];
    text += '\n';
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::array<char, 32> digits; // the fewest that give the same double
        const auto end = std::to_chars(digits.begin(), digits.end(), numbers[i]).ptr;
        text.append(digits.begin(), end);
        text += (i + 1) % names.size() == 0 ? '\n' : ',';
    }
    return text;
}

} // namespace

void check_table_name(const std::string& option, const std::filesystem::path& file) {
    if (!is_npy_name(file) && file.extension() != ".csv")
        throw Error{ErrorKind::invalid_argument,
                    option + " " + file.string() + ": takes a name that ends with .csv or .npy"};
}

void check_bodies_name(const std::string& option, const std::filesystem::path& file) {
    if (is_gadget_name(file)) return expect_hdf5(option + " " + file.string());
    if (!is_npy_name(file) && file.extension() != ".csv")
        throw Error{ErrorKind::invalid_argument,
                    option + " " + file.string() + ": takes a name that ends with .csv, .npy or .hdf5"};
}

std::string bodies_file(const std::filesystem::path& file, const Bodies& bodies, double time) {
    return is_gadget_name(file) ? gadget_bytes(bodies, time) : bodies_table(file, bodies);
}

std::string bodies_table(const std::filesystem::path& file, const Bodies& bodies) {
    std::vector<double> numbers;
    numbers.reserve(7 * bodies.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const Vector &place = bodies.places[i], &velocity = bodies.velocities[i];
        for (const double number :
             {place.x, place.y, place.z, velocity.x, velocity.y, velocity.z, bodies.masses[i]})
            numbers.push_back(number);
    }
    return table_of(file, numbers, {"x", "y", "z", "vx", "vy", "vz", "m"});
}

std::string vectors_table(const std::filesystem::path& file, const std::vector<Vector>& accelerations) {
    std::vector<double> numbers;
    numbers.reserve(3 * accelerations.size());
    for (const Vector& vector : accelerations)
        for (const double number : {vector.x, vector.y, vector.z}) numbers.push_back(number);
    return table_of(file, numbers, {"ax", "ay", "az"});
}

std::string potentials_table(const std::filesystem::path& file, const std::vector<double>& potentials) {
    return table_of(file, potentials, {"potential"});
}

} // namespace barnes_hut
