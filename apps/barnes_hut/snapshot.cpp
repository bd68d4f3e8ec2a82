// apps/barnes_hut/snapshot.cpp - see snapshot.hpp.
#include "snapshot.hpp"
#include "checksum.hpp"
#include <headrace/core/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <string_view>

namespace barnes_hut {
namespace {

static_assert(std::endian::native == std::endian::little, "files are");

constexpr std::string_view first_line = "headrace-barnes-hut snapshot 1\n";
constexpr std::size_t most_header = 4096;
constexpr double farthest = 1e150, heaviest = 1e100; ///< see scale_of and read_bodies

using BodyRow = std::array<double, 11>; ///< place, velocity, mass, acceleration, potential
using PastRow = std::array<double, 9>;  ///< step, kinetic, potential, momentum, angular momentum

template <class T>
void append(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

class Reader {
public:
    Reader(std::istream& stream, const std::string& name) : stream_(stream), name_(name) {}

    [[noreturn]] void refuse(const std::string& why) const {
        throw headrace::Error{headrace::ErrorKind::invalid_argument, name_ + ": " + why};
    }
    std::string line(std::size_t most) {
        std::string line;
        for (char letter = 0; line.size() < most && stream_.get(letter);) {
            line += letter;
            if (letter == '\n') break;
        }
        checksum_.add(line);
        return line;
    }
    template <std::size_t N>
    std::array<double, N> row() {
        std::array<double, N> row{};
        read(row);
        checksum_.add(row);
        return row;
    }
    std::uint64_t word() {
        std::uint64_t word = 0;
        read(word);
        checksum_.add(word);
        return word;
    }
    void expect_end() {
        std::uint64_t sum = 0;
        read(sum);
        if (sum != checksum_.value()) refuse("is a broken snapshot: its checksum is another");
        if (stream_.peek() != std::istream::traits_type::eof())
            refuse("is a broken snapshot: it goes on behind its end");
    }

private:
    template <class T>
    void read(T& value) {
        if (!stream_.read(reinterpret_cast<char*>(&value), sizeof value))
            refuse("is a broken snapshot: it ends before its last number");
    }

    std::istream& stream_;
    const std::string& name_;
    Checksum checksum_;
};

struct Sizes {
    std::uint64_t bodies = 0, past = 0;
    bool has_ids = false, has_types = false;
};

/// Errors  invalid_argument: of another number, such as 1e300 or -1, the JSON library would make one
std::uint64_t whole(const Reader& reader, const nlohmann::json& json, const char* key) {
    const nlohmann::json& number = json.at(key);
    if (!number.is_number_unsigned())
        reader.refuse("is a broken snapshot: \"" + std::string(key) + "\" is no whole number");
    return number.get<std::uint64_t>();
}

Sizes read_header(Reader& reader, Snapshot& snapshot) {
    if (reader.line(first_line.size()) != first_line)
        reader.refuse("is no snapshot; --snapshot-every writes them");
    const auto json = nlohmann::json::parse(reader.line(most_header), nullptr, false);
    Sizes sizes;
    try {
        snapshot.step = whole(reader, json, "step");
        snapshot.have_met = json.at("have_met").get<bool>();
        Parameters& of = snapshot.parameters;
        of = {json.at("dt").get<double>(),         json.at("G").get<double>(),
              json.at("softening").get<double>(),  json.at("theta").get<double>(),
              json.at("accuracy").get<double>(),   json.at("quadrupole").get<bool>(),
              json.at("kernel").get<std::string>()};
        snapshot.bodies.time = json.at("time").get<double>();
        sizes = {whole(reader, json, "bodies"), whole(reader, json, "history"), json.at("ids").get<bool>(),
                 json.at("types").get<bool>()};
    } catch (const nlohmann::json::exception&) {
        reader.refuse("is a broken snapshot: its second line does not say what is in it");
    }
    return sizes;
}

bool is_plausible(const BodyRow& row) {
    const auto is_near = [](double place) { return std::abs(place) <= farthest; };
    return std::ranges::all_of(row, [](double number) { return std::isfinite(number); }) &&
           std::ranges::all_of(std::span(row).first(6), is_near) && row[6] >= 0 && row[6] <= heaviest;
}

bool is_plausible(const Totals& totals, std::uint64_t last_step) {
    return totals.step <= last_step && std::isfinite(totals.kinetic) && totals.potential < HUGE_VAL;
}

} // namespace

std::string bytes_of(const Snapshot& snapshot) {
    const Bodies& bodies = snapshot.bodies;
    const Field& field = snapshot.field;
    HEADRACE_ASSERT(field.accelerations.size() == bodies.size() && field.potentials.size() == bodies.size());
    const Parameters& of = snapshot.parameters;
    const nlohmann::ordered_json json{{"step", snapshot.step},
                                      {"bodies", bodies.size()},
                                      {"dt", of.dt},
                                      {"G", of.gravity},
                                      {"softening", of.softening},
                                      {"theta", of.theta},
                                      {"accuracy", of.accuracy},
                                      {"quadrupole", of.quadrupole},
                                      {"kernel", of.kernel},
                                      {"have_met", snapshot.have_met},
                                      {"history", snapshot.history.size()},
                                      {"time", bodies.time},
                                      {"ids", !bodies.ids.empty()},
                                      {"types", !bodies.types.empty()}};
    std::string bytes(first_line);
    bytes += json.dump() + '\n';
    Checksum checksum;
    checksum.add(bytes);
    bytes.reserve(bytes.size() + sizeof(PastRow) * snapshot.history.size() + sizeof(BodyRow) * bodies.size() +
                  8);
    for (const Totals& past : snapshot.history) {
        const Vector &p = past.momentum, &l = past.angular_momentum;
        const PastRow row{
            static_cast<double>(past.step), past.kinetic, past.potential, p.x, p.y, p.z, l.x, l.y, l.z};
        append(bytes, row);
        checksum.add(row);
    }
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const Vector &at = bodies.places[i], &v = bodies.velocities[i], &a = field.accelerations[i];
        const BodyRow row{
            at.x, at.y, at.z, v.x, v.y, v.z, bodies.masses[i], a.x, a.y, a.z, field.potentials[i]};
        append(bytes, row);
        checksum.add(row);
    }
    const auto append_label = [&](std::uint64_t label) {
        append(bytes, label);
        checksum.add(label);
    };
    for (const std::uint64_t id : bodies.ids) append_label(id);
    for (const std::uint8_t type : bodies.types) append_label(type);
    append(bytes, checksum.value());
    return bytes;
}

Snapshot parse_snapshot(std::istream& stream, const std::string& name) {
    Reader reader(stream, name);
    Snapshot snapshot;
    const Sizes sizes = read_header(reader, snapshot);
    // What a header promises and the file does not have takes no memory.
    for (std::uint64_t i = 0; i < sizes.past; ++i) {
        const PastRow row = reader.row<std::tuple_size_v<PastRow>>();
        if (!(row[0] >= 0 && row[0] <= 0x1p53))
            reader.refuse("is a broken snapshot: it has energies of no step");
        const Totals totals{static_cast<std::uint64_t>(row[0]),
                            row[1],
                            row[2],
                            {row[3], row[4], row[5]},
                            {row[6], row[7], row[8]}};
        if (!is_plausible(totals, snapshot.step))
            reader.refuse("is a broken snapshot: it has energies that cannot be");
        snapshot.history.push_back(totals);
    }
    Bodies& bodies = snapshot.bodies;
    for (std::uint64_t i = 0; i < sizes.bodies; ++i) {
        const BodyRow row = reader.row<std::tuple_size_v<BodyRow>>();
        if (!is_plausible(row))
            reader.refuse("is a broken snapshot: body " + std::to_string(i + 1) + " cannot be");
        bodies.places.push_back({row[0], row[1], row[2]});
        bodies.velocities.push_back({row[3], row[4], row[5]});
        bodies.masses.push_back(row[6]);
        snapshot.field.accelerations.push_back({row[7], row[8], row[9]});
        snapshot.field.potentials.push_back(row[10]);
    }
    for (std::uint64_t i = 0; sizes.has_ids && i < sizes.bodies; ++i) bodies.ids.push_back(reader.word());
    for (std::uint64_t i = 0; sizes.has_types && i < sizes.bodies; ++i) {
        const std::uint64_t type = reader.word();
        if (type > 5) reader.refuse("is a broken snapshot: a body has a type beyond 5");
        bodies.types.push_back(static_cast<std::uint8_t>(type));
    }
    reader.expect_end();
    if (bodies.size() == 0 || snapshot.history.empty()) reader.refuse("is a broken snapshot: it is empty");
    return snapshot;
}

} // namespace barnes_hut
