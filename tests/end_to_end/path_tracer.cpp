// tests/end_to_end/path_tracer.cpp - see path_tracer.hpp.
#include "end_to_end/path_tracer.hpp"

#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>

namespace headrace::end_to_end {
namespace {

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> names;
    std::istringstream stream(list);
    for (std::string name; std::getline(stream, name, ',');)
        if (!name.empty()) names.push_back(name);
    return names;
}

std::string technology_of(const std::string& device) { return device.substr(0, device.find(':')); }

enum class Presence { present, absent };

/// Asks the program itself, with an image of one pixel: exit code 2 says that the list names what is not
/// there.
Presence look_for(const std::string& device) {
    static std::map<std::string, Presence> known;
    if (const auto found = known.find(device); found != known.end()) return found->second;
    const Scratch folder;
    const Outcome outcome = run_path_tracer(
        folder, convex_body(folder, 0.5) + Options{"--devices", device, "--width", "1", "--height", "1",
                                                   "--spp", "1", "--out", "probe.pfm"});
    if (outcome.exit_code != 0 && outcome.exit_code != 2)
        throw std::runtime_error(device + " is there and does not work: " + outcome.errors);
    const Presence presence = outcome.exit_code == 0 ? Presence::present : Presence::absent;
    known.emplace(device, presence);
    return presence;
}

/// A technology is required of the machine, not of each of its devices: any one will do.
bool is_required(const std::string& device) {
    const char* required = std::getenv("HEADRACE_REQUIRE_DEVICES");
    for (const std::string& name : split(required ? required : "")) {
        if (name == device || device.starts_with(name + '.'))
            return true; // "opencl:nvidia", its "opencl:nvidia.0"
        if (name != technology_of(device)) continue;
        bool another = false;
        for (const char* other : every_device)
            another = another || (technology_of(other) == name && look_for(other) == Presence::present);
        if (!another) return true;
    }
    return false;
}

/// Text of an OBJ file, face by face. Quads are given counter-clockwise as seen from the side of their
/// normal.
class Obj {
public:
    explicit Obj(std::string_view materials) { text_ << "mtllib " << materials << '\n'; }

    void material(std::string_view name) { text_ << "usemtl " << name << '\n'; }
    void box(std::array<double, 3> low, std::array<double, 3> high) {
        for (int corner = 0; corner < 8; ++corner)
            text_ << "v " << (corner & 1 ? high : low)[0] << ' ' << (corner & 2 ? high : low)[1] << ' '
                  << (corner & 4 ? high : low)[2] << '\n';
        for (const char* face : {"1 5 7 3", "2 4 8 6", "1 2 6 5", "3 7 8 4", "1 3 4 2", "5 6 8 7"}) {
            std::istringstream corners(face);
            text_ << 'f';
            for (int corner = 0; corners >> corner;) text_ << ' ' << vertices_ + corner;
            text_ << '\n';
        }
        vertices_ += 8;
    }
    [[nodiscard]] std::string text() const { return text_.str(); }

private:
    std::ostringstream text_;
    int vertices_ = 0;
};

} // namespace

Options operator+(Options a, const Options& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

Program start_path_tracer(const Scratch& folder, const Options& options) {
    return Program(HEADRACE_PATH_TRACER, options + Options{"--quiet"}, folder.path());
}

Outcome run_path_tracer(const Scratch& folder, const Options& options) {
    return start_path_tracer(folder, options).wait();
}

Image render(const Scratch& folder, const Options& options) {
    const Outcome outcome = run_path_tracer(folder, options + Options{"--out", "render.pfm"});
    if (outcome.exit_code != 0) {
        std::string said = outcome.timed_out ? "did not end in time: " : "failed: ";
        for (const std::string& option : options) said += option + ' ';
        throw std::runtime_error(said + '\n' + outcome.errors);
    }
    return read_pfm(folder.path() / "render.pfm");
}

std::string test_name(std::string devices) {
    for (char& letter : devices)
        if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
    return devices;
}

std::string absence(const std::string& devices) {
    for (const std::string& device : split(devices)) {
        if (look_for(device) == Presence::present) continue;
        if (is_required(device))
            throw std::runtime_error("HEADRACE_REQUIRE_DEVICES asks for " + device + ", which is not here");
        return "no " + device + " on this machine";
    }
    return {};
}

Options convex_body(const Scratch& folder, double albedo) {
    folder.write("body.mtl", "newmtl matt\nKd " + std::to_string(albedo) + ' ' + std::to_string(albedo) +
                                 ' ' + std::to_string(albedo) + "\nillum 1\n");
    Obj obj("body.mtl");
    obj.material("matt");
    obj.box({-1, -1.5, -0.75}, {1, 1.5, 0.75});
    folder.write("body.obj", obj.text());
    return {"--scene", "body.obj", "--camera", "3,4,5,0,0,0,36", "--sky", "1,1,1"};
}

Options glowing_room(const Scratch& folder, double albedo) {
    const std::string r = std::to_string(albedo);
    folder.write("glow.mtl", "newmtl wall\nKd " + r + ' ' + r + ' ' + r + "\nKe 1 1 1\nillum 1\n");
    Obj obj("glow.mtl");
    obj.material("wall");
    obj.box({-1, -1, -1}, {1, 1.25, 1.5});
    folder.write("glow.obj", obj.text());
    return {"--scene", "glow.obj", "--camera",        "-0.3,0.2,0.7,0.4,0.1,-0.5,70",
            "--sky",   "0,0,0",    "--roulette-from", "0"};
}

namespace {
constexpr std::string_view room_materials = "newmtl wall\nKd 0.75 0.7 0.65\nillum 1\n"
                                            "newmtl lamp\nKd 0 0 0\nKe 14 13 11\nillum 1\n"
                                            "newmtl matt\nKd 0.2 0.4 0.8\nillum 1\n"
                                            "newmtl mirror\nKd 0 0 0\nKs 0.9 0.9 0.9\nillum 3\n"
                                            "newmtl glass\nKd 0 0 0\nKs 1 1 1\nTf 1 1 1\nNi 1.5\nillum 7\n";

Options room_with(const Scratch& folder, std::string_view second, std::string_view third) {
    folder.write("room.mtl", room_materials);
    Obj obj("room.mtl");
    obj.material("wall");
    obj.box({-2, 0, -2}, {2, 3, 2});
    obj.material("lamp");
    obj.box({-0.5, 2.3, -0.5},
            {0.5, 2.35, 0.5}); // away from walls: light falls off as 1/d^2, and so does noise
    obj.material("matt");
    obj.box({-1.5, 0.01, -1.2}, {-0.5, 1.2, -0.4});
    obj.material(second);
    obj.box({0.4, 0.01, -1.5}, {1.4, 1.6, -0.6});
    obj.material(third);
    obj.box({-0.3, 0.01, 0.1}, {0.3, 0.7, 0.6});
    folder.write("room.obj", obj.text());
    return {"--scene", "room.obj", "--camera", "0,1.5,1.9,0,1,0,75", "--sky", "0,0,0", "--max-depth", "6"};
}
} // namespace

Options furnished_room(const Scratch& folder) { return room_with(folder, "mirror", "glass"); }
Options matt_room(const Scratch& folder) { return room_with(folder, "matt", "matt"); }

} // namespace headrace::end_to_end
