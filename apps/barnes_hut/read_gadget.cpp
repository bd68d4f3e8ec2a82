// apps/barnes_hut/read_gadget.cpp - see gadget.hpp.
#include "gadget.hpp"
#include "hdf5_handle.hpp"
#include "own_process.hpp"
#include "read_bodies.hpp"
#include <headrace/core/log.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <type_traits>
#include <vector>

namespace barnes_hut {
namespace {

constexpr std::size_t rows_at_once = 1 << 16;
constexpr std::uint64_t most_particles = std::uint64_t{1} << 28; ///< see check_size
constexpr std::size_t largest_chunk = std::size_t{1} << 26;      ///< bytes: HDF5 holds one whole
/// Deflate makes no more out of a byte, so what a file claims takes no more memory than this many times its
/// size.
constexpr std::uint64_t most_per_byte = 1100;

/// One file, with its name for messages.
class GadgetFile {
public:
    explicit GadgetFile(const std::filesystem::path& file) : name_(file.string()), file_(open(file)) {}

    [[noreturn]] void refuse(const std::string& why) const {
        throw headrace::Error{headrace::ErrorKind::invalid_argument, name_ + ": " + why};
    }

    /// Of the file or a group in it; `path`: for messages.
    Hdf5Handle group(const std::string& path) const {
        expect_own(file_, path, path);
        return {H5Gopen2(file_, path.c_str(), H5P_DEFAULT), H5Gclose,
                name_ + ": " + path + " is no group that can be read"};
    }
    static bool has(hid_t group, const std::string& name) {
        return H5Lexists(group, name.c_str(), H5P_DEFAULT) > 0;
    }

    /// Numbers of an attribute; none if it is not there.
    std::optional<std::vector<double>> attribute(hid_t group, const char* name) const {
        if (H5Aexists(group, name) <= 0) return std::nullopt;
        const std::string what = name_ + ": the Header's " + name + " cannot be read";
        const Hdf5Handle attribute(H5Aopen(group, name, H5P_DEFAULT), H5Aclose, what);
        const Hdf5Handle type(H5Aget_type(attribute), H5Tclose, what),
            space(H5Aget_space(attribute), H5Sclose, what);
        const hssize_t count = H5Sget_simple_extent_npoints(space);
        constexpr hssize_t most = 64;
        if (!is_number(type) || count < 1 || count > most)
            refuse(std::string("the Header's ") + name + " is no number");
        std::vector<double> values(static_cast<std::size_t>(count));
        if (H5Aread(attribute, H5T_NATIVE_DOUBLE, values.data()) < 0)
            refuse(std::string("the Header's ") + name + " cannot be read");
        return values;
    }

    /// take(row, numbers of the row) for all rows of a dataset that has so many.
    template <class Number, class Take>
    void read(hid_t group, const std::string& folder, const char* name, std::uint64_t rows, std::size_t width,
              const Take& take) const {
        const std::string path = folder + "/" + name, what = name_ + ": " + path + " cannot be read";
        if (!has(group, name)) refuse("has no " + path);
        expect_own(group, name, path);
        Hdf5Handle dataset(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose,
                           name_ + ": " + path + " is no dataset that can be read");
        const Hdf5Handle type(H5Dget_type(dataset), H5Tclose, what),
            space(H5Dget_space(dataset), H5Sclose, what);
        if (!is_number(type)) refuse(path + " does not have numbers");
        hid_t memory_type = H5T_NATIVE_DOUBLE;
        if constexpr (std::is_integral_v<Number>) {
            if (H5Tget_class(type) != H5T_INTEGER) refuse(path + " does not have whole numbers");
            // The library makes 0 of a negative number where it finds no room for one: bits stay this way.
            memory_type = H5Tget_sign(type) == H5T_SGN_NONE ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64;
        }
        expect_shape(space, path, rows, width);
        const std::size_t chunk = check_storage(dataset, path, rows * width * H5Tget_size(type));
        const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, what);
        constexpr std::size_t slots = 521; // the library's own number
        if (chunk > 0 && H5Pset_chunk_cache(access, slots, 2 * chunk, 1) < 0)
            refuse(path + " cannot be read");
        dataset = Hdf5Handle(H5Dopen2(group, name, access), H5Dclose, what);
        std::vector<Number> some(rows_at_once * width);
        const int dimensions = H5Sget_simple_extent_ndims(space);
        for (std::uint64_t done = 0; done < rows; done += rows_at_once) {
            const std::array<hsize_t, 2> begin{done, 0},
                size{std::min<std::uint64_t>(rows_at_once, rows - done), width};
            const Hdf5Handle here(H5Screate_simple(dimensions, size.data(), nullptr), H5Sclose, what);
            if (H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr) < 0 ||
                H5Dread(dataset, memory_type, here, space, H5P_DEFAULT, some.data()) < 0)
                refuse(path + " cannot be read: the file is cut off or broken");
            for (std::size_t i = 0; i < size[0]; ++i) take(done + i, &some[i * width]);
        }
    }

private:
    Hdf5Handle open(const std::filesystem::path& file) const {
        quiet_hdf5();
        const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, name_);
        H5Pset_file_locking(access, false, true); // nothing is written; some file systems have no locks
        return {H5Fopen(file.c_str(), H5F_ACC_RDONLY, access), H5Fclose,
                name_ + ": is no HDF5 file, or is cut off or broken"};
    }
    /// A link may lead to another file; what is stored here has a hard one.
    void expect_own(hid_t group, const std::string& name, const std::string& path) const {
        H5L_info_t link{};
        if (!has(group, name)) refuse("has no " + path + ", so it is no GADGET snapshot");
        if (H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT) < 0) refuse(path + " cannot be read");
        if (link.type == H5L_TYPE_EXTERNAL)
            refuse(path + " is a link to another file, which is not followed");
        if (link.type != H5L_TYPE_HARD) refuse(path + " is a link, which is not followed");
    }
    static bool is_number(hid_t type) {
        const H5T_class_t kind = H5Tget_class(type);
        return kind == H5T_FLOAT || kind == H5T_INTEGER;
    }
    void expect_shape(hid_t space, const std::string& path, std::uint64_t rows, std::size_t width) const {
        std::array<hsize_t, H5S_MAX_RANK> shape{};
        const int dimensions = H5Sget_simple_extent_dims(space, shape.data(), nullptr);
        const bool is_flat = dimensions == 1 && width == 1;
        if ((!is_flat && dimensions != 2) || shape[0] != rows || (!is_flat && shape[1] != width))
            refuse(path + " does not have " + std::to_string(rows) + " x " + std::to_string(width) +
                   " numbers, as the Header's NumPart_ThisFile says");
    }
    /// Everything is in this file, and as much as it says. Returns the bytes of a chunk, or 0.
    std::size_t check_storage(hid_t dataset, const std::string& path, std::uint64_t bytes) const {
        const Hdf5Handle list(H5Dget_create_plist(dataset), H5Pclose,
                              name_ + ": " + path + " cannot be read");
        const H5D_layout_t layout = H5Pget_layout(list);
        if (layout == H5D_VIRTUAL || (layout == H5D_CONTIGUOUS && H5Pget_external_count(list) != 0))
            refuse(path + " is stored in other files, which are not read");
        const int filters = H5Pget_nfilters(list);
        bool is_packed = false;
        for (int i = 0; i < filters; ++i) {
            unsigned flags = 0, configuration = 0;
            std::size_t parameters = 0;
            const H5Z_filter_t filter = H5Pget_filter2(list, static_cast<unsigned>(i), &flags, &parameters,
                                                       nullptr, 0, nullptr, &configuration);
            is_packed = is_packed || filter == H5Z_FILTER_DEFLATE;
            if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE &&
                filter != H5Z_FILTER_FLETCHER32)
                refuse(path + " is packed by filter " + std::to_string(filter) +
                       "; deflate, shuffle and fletcher32 are read (h5repack -f GZIP=1)");
        }
        const std::uint64_t stored = H5Dget_storage_size(dataset);
        if (stored > std::filesystem::file_size(name_) ||
            (is_packed ? stored * most_per_byte : stored) < bytes)
            refuse(path + " has fewer numbers than it says");
        if (layout != H5D_CHUNKED) return 0;
        std::array<hsize_t, H5S_MAX_RANK> chunk{};
        const int dimensions = H5Pget_chunk(list, H5S_MAX_RANK, chunk.data());
        const Hdf5Handle type(H5Dget_type(dataset), H5Tclose, name_);
        std::uint64_t size = H5Tget_size(type);
        for (int i = 0; i < dimensions; ++i) {
            if (chunk[static_cast<std::size_t>(i)] > largest_chunk / size)
                refuse(path + " has chunks beyond 64 MiB");
            size *= chunk[static_cast<std::size_t>(i)];
        }
        return size;
    }

    std::string name_;
    Hdf5Handle file_;
};

struct Header {
    std::array<std::uint64_t, gadget_types> counts{};
    std::array<double, gadget_types> masses{}; ///< 0: each body says its own
    double time = 0;
};

Header read_header(const GadgetFile& file) {
    const Hdf5Handle group = file.group("Header");
    const auto numbers = [&](const char* name) {
        return file.attribute(group, name).value_or(std::vector<double>{});
    };
    const auto number = [&](const char* name, double otherwise) {
        const std::vector<double> all = numbers(name);
        return all.empty() ? otherwise : all.front();
    };
    Header header;
    const std::vector<double> counts = numbers("NumPart_ThisFile"), masses = numbers("MassTable");
    if (counts.empty()) file.refuse("the Header has no NumPart_ThisFile, so it is no GADGET snapshot");
    if (const double files = number("NumFilesPerSnapshot", 1); files != 1)
        file.refuse("is one of several files (NumFilesPerSnapshot); snapshots in one file are read");
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (!(counts[i] >= 0 && counts[i] < static_cast<double>(most_particles)) ||
            counts[i] != std::floor(counts[i]))
            file.refuse("the Header's NumPart_ThisFile is below 0, no whole number, or more than the 2^28 "
                        "that there is room for");
        if (i >= gadget_types && counts[i] > 0)
            file.refuse("has particles of type " + std::to_string(i) + "; types 0 to 5 are read");
        if (i < gadget_types) header.counts[i] = static_cast<std::uint64_t>(counts[i]);
        if (i < gadget_types) all += header.counts[i];
        if (i < gadget_types && i < masses.size()) header.masses[i] = masses[i];
    }
    if (all == 0) file.refuse("has no bodies");
    if (all >= most_particles)
        file.refuse("has " + std::to_string(all) + " bodies: there is room for fewer than 2^28");
    header.time = number("Time", 0);
    if (!std::isfinite(header.time)) file.refuse("the Header's Time is no number");
    return header;
}

/// What the file says and this program does not do.
std::string unused(const GadgetFile& file, const Header& header) {
    const Hdf5Handle group = file.group("Header");
    const auto is_set = [&](const char* what) {
        const auto value = file.attribute(group, what);
        return value && value->front() != 0;
    };
    std::string list;
    const auto add = [&](const char* what) { list += (list.empty() ? "" : "; ") + std::string(what); };
    if (is_set("BoxSize")) add("BoxSize (space has no end here)");
    if (is_set("Redshift") || is_set("Omega0") || is_set("OmegaLambda"))
        add("cosmology (numbers are taken as they are: no expansion, no factors of h or a)");
    if (header.counts[0] > 0) add("what gas (PartType0) does besides being heavy");
    return list;
}

/// What the process that reads says before the numbers.
struct Contents {
    std::array<std::uint64_t, gadget_types> counts;
    double time;
    bool has_ids;
};

template <class T>
void put(std::FILE* to, const T* values, std::size_t count) {
    // The process that reads the pipe says why it has closed it.
    if (std::fwrite(values, sizeof(T), count, to) != count)
        throw headrace::Error{headrace::ErrorKind::io, "a pipe is closed"};
}

void send_type(const GadgetFile& file, const Header& header, std::size_t type, bool has_ids, std::FILE* to) {
    const std::uint64_t count = header.counts[type];
    const std::string folder = "PartType" + std::to_string(type);
    const Hdf5Handle group = file.group(folder);
    const auto check = [&](const char* name, std::uint64_t row, double value, bool is_mass) {
        if (const char* why = why_not(value, is_mass))
            file.refuse(folder + "/" + name + ": row " + std::to_string(row + 1) + ": " + why);
    };
    for (const char* name : {"Coordinates", "Velocities"})
        file.read<double>(group, folder, name, count, 3, [&](std::uint64_t row, const double* of) {
            for (unsigned axis = 0; axis < 3; ++axis) check(name, row, of[axis], false);
            put(to, of, 3);
        });
    if (const double mass = header.masses[type]; mass != 0) {
        check("MassTable", 0, mass, true);
        for (std::uint64_t i = 0; i < count; ++i) put(to, &mass, 1);
    } else {
        file.read<double>(group, folder, "Masses", count, 1, [&](std::uint64_t row, const double* of) {
            check("Masses", row, *of, true);
            put(to, of, 1);
        });
    }
    if (has_ids)
        file.read<std::uint64_t>(group, folder, "ParticleIDs", count, 1,
                                 [&](std::uint64_t, const std::uint64_t* of) { put(to, of, 1); });
}

void send(const std::filesystem::path& path, std::FILE* to) {
    const GadgetFile file(path);
    const Header header = read_header(file);
    Contents contents{header.counts, header.time, true};
    for (std::size_t type = 0; type < gadget_types; ++type)
        if (header.counts[type] > 0)
            contents.has_ids = contents.has_ids &&
                               GadgetFile::has(file.group("PartType" + std::to_string(type)), "ParticleIDs");
    put(to, &contents, 1);
    for (std::size_t type = 0; type < gadget_types; ++type)
        if (header.counts[type] > 0) send_type(file, header, type, contents.has_ids, to);
    const std::string note = unused(file, header);
    put(to, note.data(), note.size());
}

/// Some more at the end of `values`, or as many as come. What is promised and does not come takes no memory.
template <class T>
void receive(std::FILE* from, std::vector<T>& values, std::uint64_t count) {
    std::vector<T> some(std::min<std::uint64_t>(count, rows_at_once));
    while (count > 0) {
        const std::size_t now = std::min<std::uint64_t>(count, some.size()),
                          got = std::fread(some.data(), sizeof(T), now, from);
        values.insert(values.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got));
        if (got < now) return;
        count -= now;
    }
}

/// Returns what is to be noted.
std::string receive(std::FILE* from, Bodies& bodies) {
    Contents contents{};
    if (std::fread(&contents, sizeof contents, 1, from) != 1) return {};
    bodies.time = contents.time;
    for (std::size_t type = 0; type < gadget_types; ++type) {
        const std::uint64_t count = contents.counts[type];
        if (count == 0) continue;
        receive(from, bodies.places, count);
        receive(from, bodies.velocities, count);
        receive(from, bodies.masses, count);
        if (contents.has_ids) receive(from, bodies.ids, count);
        bodies.types.resize(bodies.masses.size(), static_cast<std::uint8_t>(type));
    }
    std::vector<char> note;
    constexpr std::size_t most = 1000;
    receive(from, note, most);
    return {note.begin(), note.end()};
}

} // namespace

void expect_hdf5(const std::string&) {}

Bodies read_gadget(const std::filesystem::path& path) {
    const std::string name = path.string();
    if (!std::filesystem::is_regular_file(path))
        throw headrace::Error{headrace::ErrorKind::invalid_argument,
                              name + ": is no regular file, as HDF5 needs it"};
    constexpr std::uint64_t bytes_per_second = 10'000'000; // far fewer than any reader's
    const auto limit = std::chrono::seconds(20 + std::filesystem::file_size(path) / bytes_per_second);
    Bodies bodies;
    std::string note;
    in_own_process(
        [&](std::FILE* to) { send(path, to); }, [&](std::FILE* from) { note = receive(from, bodies); },
        name + ": is a broken HDF5 file: the library that reads it does not come to an end", limit);
    if (!note.empty()) headrace::log_warning(name + ": not used: " + note);
    return bodies;
}

} // namespace barnes_hut
