// apps/barnes_hut/write_gadget.cpp - see gadget.hpp.
#include "gadget.hpp"
#include "hdf5_handle.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace barnes_hut {
namespace {

constexpr const char* failure = "a GADGET snapshot cannot be made in memory";

void expect(herr_t status) {
    if (status < 0) throw headrace::Error{headrace::ErrorKind::io, failure};
}

template <class T>
void write_attribute(hid_t group, const char* name, hid_t type, std::span<const T> values) {
    const hsize_t count = values.size();
    const Hdf5Handle space(count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr),
                           H5Sclose, failure);
    const Hdf5Handle attribute(H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                               failure);
    expect(H5Awrite(attribute, type, values.data()));
}

/// The same bytes for the same bodies: HDF5 notes times otherwise.
Hdf5Handle without_times(hid_t kind) {
    Hdf5Handle list(H5Pcreate(kind), H5Pclose, failure);
    expect(H5Pset_obj_track_times(list, false));
    return list;
}

Hdf5Handle create_group(hid_t file, const std::string& name) {
    return {H5Gcreate2(file, name.c_str(), H5P_DEFAULT, without_times(H5P_GROUP_CREATE), H5P_DEFAULT),
            H5Gclose, failure};
}

template <class T>
void write_dataset(hid_t group, const char* name, hid_t type, const std::vector<T>& values,
                   std::size_t width) {
    const std::array<hsize_t, 2> shape{values.size() / width, width};
    const Hdf5Handle space(H5Screate_simple(width == 1 ? 1 : 2, shape.data(), nullptr), H5Sclose, failure);
    const Hdf5Handle dataset(
        H5Dcreate2(group, name, type, space, H5P_DEFAULT, without_times(H5P_DATASET_CREATE), H5P_DEFAULT),
        H5Dclose, failure);
    expect(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
}

void write_header(hid_t file, const std::array<std::uint32_t, gadget_types>& counts, double time) {
    const Hdf5Handle header = create_group(file, "Header");
    const auto number = [&](const char* name, double value) {
        write_attribute<double>(header, name, H5T_NATIVE_DOUBLE, {&value, 1});
    };
    const auto whole = [&](const char* name, std::int32_t value) {
        write_attribute<std::int32_t>(header, name, H5T_NATIVE_INT32, {&value, 1});
    };
    constexpr std::array<std::uint32_t, gadget_types> none{};
    constexpr std::array<double, gadget_types> no_mass{}; // each body says its own
    write_attribute<std::uint32_t>(header, "NumPart_ThisFile", H5T_NATIVE_UINT32, counts);
    write_attribute<std::uint32_t>(header, "NumPart_Total", H5T_NATIVE_UINT32, counts);
    write_attribute<std::uint32_t>(header, "NumPart_Total_HighWord", H5T_NATIVE_UINT32, none);
    write_attribute<double>(header, "MassTable", H5T_NATIVE_DOUBLE, no_mass);
    number("Time", time);
    for (const char* name : {"Redshift", "BoxSize", "Omega0", "OmegaLambda"}) number(name, 0);
    number("HubbleParam", 1);
    whole("NumFilesPerSnapshot", 1);
    for (const char* name : {"Flag_Sfr", "Flag_Cooling", "Flag_StellarAge", "Flag_Metals", "Flag_Feedback"})
        whole(name, 0);
    whole("Flag_DoublePrecision", 1);
}

void write_type(hid_t file, std::size_t type, const Bodies& bodies, const std::vector<std::size_t>& members) {
    std::vector<double> places, velocities, masses;
    std::vector<std::uint64_t> ids;
    for (const std::size_t i : members) {
        const Vector &at = bodies.places[i], &v = bodies.velocities[i];
        places.insert(places.end(), {at.x, at.y, at.z});
        velocities.insert(velocities.end(), {v.x, v.y, v.z});
        masses.push_back(bodies.masses[i]);
        ids.push_back(bodies.ids.empty() ? i + 1 : bodies.ids[i]);
    }
    const Hdf5Handle group = create_group(file, "PartType" + std::to_string(type));
    write_dataset(group, "Coordinates", H5T_NATIVE_DOUBLE, places, 3);
    write_dataset(group, "Velocities", H5T_NATIVE_DOUBLE, velocities, 3);
    write_dataset(group, "Masses", H5T_NATIVE_DOUBLE, masses, 1);
    write_dataset(group, "ParticleIDs", H5T_NATIVE_UINT64, ids, 1);
}

} // namespace

std::string gadget_bytes(const Bodies& bodies, double time) {
    constexpr std::size_t usual = 1; // GADGET's halo: no gas
    std::array<std::vector<std::size_t>, gadget_types> members;
    for (std::size_t i = 0; i < bodies.size(); ++i)
        members.at(bodies.types.empty() ? usual : bodies.types[i]).push_back(i);
    std::array<std::uint32_t, gadget_types> counts{};
    std::ranges::transform(members, counts.begin(),
                           [](const auto& all) { return static_cast<std::uint32_t>(all.size()); });

    quiet_hdf5();
    const Hdf5Handle in_memory(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, failure);
    constexpr std::size_t step = std::size_t{1} << 24; // by which the memory grows
    expect(H5Pset_fapl_core(in_memory, step, false));
    const Hdf5Handle file(H5Fcreate("snapshot", H5F_ACC_TRUNC, without_times(H5P_FILE_CREATE), in_memory),
                          H5Fclose, failure);
    write_header(file, counts, time);
    for (std::size_t type = 0; type < gadget_types; ++type)
        if (!members[type].empty()) write_type(file, type, bodies, members[type]);
    expect(H5Fflush(file, H5F_SCOPE_GLOBAL));
    const ssize_t size = H5Fget_file_image(file, nullptr, 0);
    if (size <= 0) throw headrace::Error{headrace::ErrorKind::io, failure};
    std::string bytes(static_cast<std::size_t>(size), '\0');
    if (H5Fget_file_image(file, bytes.data(), bytes.size()) != size)
        throw headrace::Error{headrace::ErrorKind::io, failure};
    return bytes;
}

} // namespace barnes_hut
