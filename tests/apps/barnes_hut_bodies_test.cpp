// Bodies: those of a Plummer sphere, and those in files.
#include "bodies.hpp"
#include "density.hpp"
#include "program/npy.hpp"
#include "read_bodies.hpp"
#include "reference_gravity.hpp"
#include "totals.hpp"
#include "write_bodies.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>

namespace barnes_hut::test {
namespace {

using headrace::Error;
using headrace::ErrorKind;

/// What reading is refused with.
std::string refusal(const auto& read) {
    try {
        static_cast<void>(read());
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
        return error.message();
    }
    return "was read";
}
std::string csv_refusal(const std::string& text) {
    return refusal([&] { return parse_csv(text, "bodies.csv"); });
}

TEST(PlummerSphere, IsInEquilibriumWithTheEnergyOfItsUnits) {
    const Bodies bodies = plummer_sphere(4000, 1);
    double kinetic = 0, potential = 0;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const double speed = length(bodies.velocities[i]);
        kinetic += bodies.masses[i] * speed * speed / 2;
        potential += bodies.masses[i] * direct_sum(bodies, i, 0).potential / 2;
    }
    // Of 4000 bodies: 1 / sqrt(4000) = 1.6 %, times the spread of a body's energy, which is about its mean.
    EXPECT_NEAR(kinetic + potential, -0.25, 0.01);
    EXPECT_NEAR(-2 * kinetic / potential, 1, 0.05);
}

TEST(PlummerSphere, RestsInTheOriginAndHasItsHalfMassWhereItShould) {
    const Bodies bodies = plummer_sphere(20000, 3);
    EXPECT_NEAR(std::accumulate(bodies.masses.begin(), bodies.masses.end(), 0.0), 1, 1e-12);
    Vector place, velocity;
    std::vector<double> radii;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const Vector &p = bodies.places[i], &v = bodies.velocities[i];
        place = {place.x + p.x, place.y + p.y, place.z + p.z};
        velocity = {velocity.x + v.x, velocity.y + v.y, velocity.z + v.z};
        radii.push_back(length(p));
    }
    EXPECT_LT(length(place) / 20000, 1e-13);
    EXPECT_LT(length(velocity) / 20000, 1e-13);
    std::sort(radii.begin(), radii.end());
    const double a = 3 * 3.14159265358979 / 16;
    EXPECT_NEAR(radii[10000], 1.3048 * a, 0.02); // a / sqrt(2^(2/3) - 1)
    EXPECT_LT(radii.back(), 39 * a);             // the outermost 0.1 % are cut off
}

TEST(PlummerSphere, DependsOnItsSeedAlone) {
    const Bodies a = plummer_sphere(100, 5), b = plummer_sphere(100, 5), c = plummer_sphere(100, 6);
    EXPECT_EQ(a.places, b.places);
    EXPECT_EQ(a.velocities, b.velocities);
    EXPECT_NE(a.places, c.places);
    EXPECT_EQ(plummer_sphere(1, 1).size(), 1u);
}

TEST(CsvBodies, AreReadWithAndWithoutHeader) {
    for (const char* head :
         {"", "x,y,z,vx,vy,vz,m\n", "# a remark\n\n x , y, z,vx,vy,vz,m \r\n", "\xef\xbb\xbf"}) {
        const Bodies bodies =
            parse_csv(std::string(head) + "1,-2,3e0,+4,5.5,6,7\r\n\n 8 ,9,10,11,12,13,0", "b.csv");
        ASSERT_EQ(bodies.size(), 2u) << head;
        EXPECT_EQ(bodies.places[0], (Vector{1, -2, 3}));
        EXPECT_EQ(bodies.velocities[0], (Vector{4, 5.5, 6}));
        EXPECT_EQ(bodies.velocities[1], (Vector{11, 12, 13}));
        EXPECT_EQ(bodies.masses, (std::vector<double>{7, 0}));
    }
}

TEST(CsvBodies, ThatCannotBeReadAreNamedByFileLineAndField) {
    const std::string good = "1,2,3,4,5,6,7\n";
    const auto expect = [&](const std::string& bad, const std::string& words) {
        const std::string message = csv_refusal(good + bad);
        EXPECT_NE(message.find("bodies.csv: line 2"), std::string::npos) << message;
        EXPECT_NE(message.find(words), std::string::npos) << message;
    };
    expect("1,2,3,4,5,6,seven", "field 7 (m): \"seven\" is no number");
    expect("1,,3,4,5,6,7", "field 2 (y): \"\" is no number");
    expect("1,2,3,4,5,6", "field 7 (m): is missing");
    expect("1,2,3,4,5,6,7,8", "8 fields");
    expect("1,2,3,4,5 # 6,6,7", "field 6 (vz): is missing");
    expect("1,2,3,4,5,6,", "field 7 (m): is missing");
    expect("1,2,3,4,5,6,7,,", "8 fields");
    expect("1,2,nan,4,5,6,7", "field 3 (z): must be finite");
    expect("1,2,3,inf,5,6,7", "field 4 (vx): must be finite");
    expect("1,2,3,4,1e101,6,7", "field 5 (vy): is beyond 1e100");
    expect("1,2,3,4,5,6,-7", "field 7 (m): a mass must not be negative");
    expect("1,2,3,4,5,6,7x", "field 7 (m): \"7x\" is no number");
    expect("x,y,z,vx,vy,vz,m", "field 1 (x)"); // a header comes first
    expect("1,2,3,4,5,6,\x1b[2J", "\"?[2J\"");
    EXPECT_NE(csv_refusal("x,y\n").find("line 1: no column is z"), std::string::npos);
    EXPECT_NE(csv_refusal("x,y,z,m,vx\n").find("line 1: no column is vy"), std::string::npos);
    EXPECT_NE(csv_refusal("x,y,z,m,mass\n").find("line 1: two columns are m"), std::string::npos);
    EXPECT_NE(csv_refusal("1,2,3,4,5\n").find("has 5 fields"), std::string::npos);
    EXPECT_NE(
        csv_refusal("# m x y z\n1 2 3 4 5 6 7\n").find("line 1: the remark names 4 columns, and line 2"),
        std::string::npos);
    EXPECT_NE(csv_refusal("1e-200,1,1,1,1,1,1e-200\n").find("(m): is below 1e-100 and not 0"),
              std::string::npos);
    EXPECT_NE(csv_refusal("1,1,1,1,1,1e400,1\n").find("(vz): must be finite"), std::string::npos);
}

/// Two bodies however a table is written: columns in any order, by name.
TEST(CsvBodies, AreReadFromTheTablesThatUsersHave) {
    for (
        const char* text : {
            "m,x,y,z,vx,vy,vz\n7,1,2,3,4,5,6\n14,8,9,10,11,12,13\n",
            "# name: two bodies\n# mass,x,y,z,vx,vy,vz\n7,1,2,3,4,5,6\n14,8,9,10,11,12,13\n", // numpy.savetxt
            "# vz vy vx z y x m\n6 5 4 3 2 1 7\n13 12 11 10 9 8 14\n",
            "id,x,y,z,vx,vy,vz,m\n0,1,2,3,4,5,6,7\n1,8,9,10,11,12,13,14\n",
            "name;Z;Y;X;VX;VY;VZ;Mass [kg]\na;3;2;1;4;5;6;7\nb;10;9;8;11;12;13;14\n",
            "\"x\",\"y\",\"z\",\"v_x\",\"v_y\",\"v_z\",\"masses\"\n1,2,3,4,5,6,7\n8,9,10,11,12,13,14\n",
            "1 2 3 4 5 6 7\n8 9 10 11 12 13 14\n",
            "# positions, velocities and masses of x\n 1\t2 3   4 5 6 7 \r\n\n8 9 10 11 12 13 14",
            "1.0D+00 2 3 4 5 6 7\n.8d1 9 10 11 12 13 14\n", // Fortran
            "1,2,3,4,5,6,7,\n8,9,10,11,12,13,14, \n",
            "x,y,z,vx,vy,vz,m,\n1,2,3,4,5,6,7,\n8,9,10,11,12,13,14\n",
            "1 2 3 4 5 6 7 # the Sun\n8 9 10 11 12 13 14\t# x,y\n",
            "name,x,y,z,vx,vy,vz,m\nstar#1,1,2,3,4,5,6,7\n a#2,8,9,10,11,12,13,14\n",
            "Position_X,Position_Y,Position_Z,velocity x,velocity y,velocity z,Masses\n1,2,3,4,5,6,7\n"
            "8,9,10,11,12,13,14\n",
        }) {
        SCOPED_TRACE(text);
        const Bodies bodies = parse_csv(text, "b.txt");
        ASSERT_EQ(bodies.size(), 2u);
        EXPECT_EQ(bodies.places, (std::vector<Vector>{{1, 2, 3}, {8, 9, 10}}));
        EXPECT_EQ(bodies.velocities, (std::vector<Vector>{{4, 5, 6}, {11, 12, 13}}));
        EXPECT_EQ(bodies.masses, (std::vector<double>{7, 14}));
    }
    for (const char* text :
         {"1,2,3,4\n5,6,7,8\n", "# mass z y x\n4 3 2 1\n8 7 6 5\n", "m,x,y,z\n4,1,2,3\n8,5,6,7\n"}) {
        SCOPED_TRACE(text);
        const Bodies bodies = parse_csv(text, "b.txt");
        EXPECT_EQ(bodies.places, (std::vector<Vector>{{1, 2, 3}, {5, 6, 7}}));
        EXPECT_EQ(bodies.velocities, (std::vector<Vector>{{}, {}}));
        EXPECT_EQ(bodies.masses, (std::vector<double>{4, 8}));
    }
}

/// A mark at a line's end is behind the last number, or in front of a last field that is empty.
TEST(CsvBodies, MayHaveEmptyFieldsInColumnsThatAreNotUsed) {
    for (const char* text : {
             "x,y,z,m,name\n1,2,3,4,\n5,6,7,8,Sun\n",
             "x,y,z,m,name\n1,2,3,4,,\n5,6,7,8,Sun,\n",
             "x,y,z,m,name,kind\n1,2,3,4,,\n5,6,7,8,Sun,\n",
             "x;y;z;m;name;\n1;2;3;4;;\n5;6;7;8;;\n",
             "# x,y,z,m,name\n1,2,3,4,\n5,6,7,8,Sun\n",
             "# x,y,z,m,name\n1,2,3,4,,\n5,6,7,8,Sun\n",
             "# x,y,z,m\n1,2,3,4,\n5,6,7,8,\n",
             "# m,x,y,z,name\nx,y,z,m,\n1,2,3,4,\n5,6,7,8\n",
             "name,x,y,z,m\n,1,2,3,4\nSun,5,6,7,8\n",
         }) {
        SCOPED_TRACE(text);
        const Bodies bodies = parse_csv(text, "b.csv");
        EXPECT_EQ(bodies.places, (std::vector<Vector>{{1, 2, 3}, {5, 6, 7}}));
        EXPECT_EQ(bodies.masses, (std::vector<double>{4, 8}));
    }
    EXPECT_NE(csv_refusal("x,y,z,name,m\n1,2,3,,\n").find("field 5 (m): is missing"), std::string::npos);
    EXPECT_NE(csv_refusal("x,y,z,m,name\n1,2,3,\n").find("field 4 (m): is missing"), std::string::npos);
    EXPECT_NE(csv_refusal("x,y,z,m,name\n1,2,3,4\n").find("field 5: is missing"), std::string::npos);
    EXPECT_NE(csv_refusal("1,2,3,4,5,6,,\n").find("field 7 (m): is missing"), std::string::npos);
    EXPECT_NE(csv_refusal("x,y,z,m,name\n1,2,3,4,,,\n").find("has 6 fields"), std::string::npos);
}

/// As programs write them.
TEST(CsvBodies, AreNamedByRemarksWithUnitsAndMarks) {
    for (const char* remark :
         {"m (Msun) x (pc) y (pc) z (pc) vx (km/s) vy (km/s) vz (km/s)",
          "m(Msun) x(pc) y(pc) z(pc) vx(km/s) vy(km/s) vz(km/s)",
          "m [1e10 Msun], x [pc], y [pc], z [pc], vx [km/s], vy [km/s], vz [km/s]",
          "m[Msun]\tx[pc]\ty[pc]\tz[pc]\tvx[km/s]\tvy[km/s]\tvz[km/s]", "m:x:y:z:vx:vy:vz",
          "m; x; y; z; vx; vy; vz;", "\"m\", \"x\", \"y\", \"z\", \"vx\", \"vy\", \"vz\"",
          "[1]m [2]x [3]y [4]z [5]vx [6]vy [7]vz", "1:m 2:x 3:y 4:z 5:vx 6:vy 7:vz",
          "columns: m x y z vx vy vz", "columns m, x, y, z, vx, vy, vz",
          "Mass, Position X, Position Y, Position Z, Velocity X, Velocity Y, Velocity Z",
          "by x y z tool\n# m x y z vx vy vz\n# kg m m m m/s m/s m/s"}) {
        SCOPED_TRACE(remark);
        const Bodies bodies = parse_csv(std::string("# ") + remark + "\n7 1 2 3 4 5 6\n", "b.txt");
        EXPECT_EQ(bodies.places, (std::vector<Vector>{{1, 2, 3}}));
        EXPECT_EQ(bodies.velocities, (std::vector<Vector>{{4, 5, 6}}));
        EXPECT_EQ(bodies.masses, (std::vector<double>{7}));
    }
    EXPECT_EQ(parse_csv("# id m x y z\n9 4 1 2 3\n", "b.txt").masses, (std::vector<double>{4}));
    EXPECT_EQ(parse_csv("# id type m x y z age b c\n9 9 4 1 2 3 9 9 9\n", "b.txt").masses,
              (std::vector<double>{4}));
}

/// Else m would be x, without a word.
TEST(CsvBodies, WhoseRemarkMayNameColumnsAreRefusedIfItIsNotUnderstood) {
    for (const char* remark :
         {"m x1 x2 x3 v1 v2 v3", "m x y z v1 v2 v3", "m x y z v(x) v(y) v(z)", "mass_kg x_pc y_pc z_pc u v w",
          "m/kg rx ry rz ux uy uz", "mass rx ry rz vx vy vz", "M_sun pos.x pos.y pos.z a b c",
          "m Msun x pc y pc z pc vx km/s vy km/s vz km/s", "id x y z vx vy vz m", "m of x y z in pc",
          "a (pc, x y z vx vy m"}) {
        SCOPED_TRACE(remark);
        const std::string message = csv_refusal(std::string("\n# ") + remark + "\n7 1 2 3 4 5 6\n");
        EXPECT_NE(message.find("bodies.csv: line 2: the remark"), std::string::npos) << message;
    }
    // They say nothing about columns, or what is so without them.
    for (const char* remark :
         {"made by x y z tool", "made by the x y z tool", "masses in units of the Sun's", "7 2 1 1 1 1 1", "",
          "x, y, z in pc; velocities in km/s", "rows are x, y, z, vx, vy, vz, m", "m m m m/s m/s m/s kg",
          "stars of the cluster M31 at noon", "one two three four five six seven"}) {
        SCOPED_TRACE(remark);
        const Bodies bodies = parse_csv(std::string("# ") + remark + "\n1 2 3 4 5 6 7\n", "b.txt");
        EXPECT_EQ(bodies.places, (std::vector<Vector>{{1, 2, 3}}));
        EXPECT_EQ(bodies.masses, (std::vector<double>{7}));
    }
    // A line of names says more than a remark.
    EXPECT_EQ(parse_csv("# m x1 x2 x3\nx y z m\n1 2 3 4\n", "b.txt").masses, (std::vector<double>{4}));
}

TEST(NpyBodies, AreReadInBothPrecisionsAndNamedByRowAndField) {
    const auto read = [](const std::string& bytes) {
        std::istringstream stream(bytes);
        return parse_npy(stream, "bodies.npy");
    };
    std::vector<double> rows{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    EXPECT_EQ(read(program::npy_of(rows, {2, 7})).masses, (std::vector<double>{7, 14}));
    const std::vector<float> floats(rows.begin(), rows.end());
    EXPECT_EQ(read(program::npy_of(floats, {2, 7})).places[1], (Vector{8, 9, 10}));

    EXPECT_EQ(read(program::npy_of(rows, {2, 7})).velocities[1], (Vector{11, 12, 13}));
    const std::vector<double> at_rest{1, 2, 3, 4};
    EXPECT_EQ(read(program::npy_of(at_rest, {1, 4})).masses, (std::vector<double>{4}));

    // As NumPy writes other types and orders.
    const auto file_of = [](const std::string& header, const auto& numbers) {
        std::string bytes("\x93NUMPY\1\0", 8);
        bytes += static_cast<char>(header.size() % 256);
        bytes += static_cast<char>(header.size() / 256);
        return bytes + header +
               std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof numbers[0]);
    };
    const std::vector<double> columns{1, 8, 2, 9, 3, 10, 4, 11, 5, 12, 6, 13, 7, 14};
    const std::vector<std::int64_t> whole(rows.begin(), rows.end());
    std::vector<double> reversed = rows;
    for (double& number : reversed) {
        auto* const bytes = reinterpret_cast<unsigned char*>(&number);
        std::reverse(bytes, bytes + sizeof number);
    }
    std::vector<double> by_name{7, 1, 2, 3, 4, 5, 6, 14, 8, 9, 10, 11, 12, 13};
    for (const std::string& bytes :
         {file_of("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 7), }\n", columns),
          file_of("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 7), }\n", whole),
          file_of("{'descr': '>f8', 'fortran_order': False, 'shape': (2, 7), }\n", reversed),
          file_of(
              "{'descr': [('mass', '<f8'), ('x', '<f8'), ('y', '<f8'), ('z', '<f8'), ('vx', '<f8'), ('vy', "
              "'<f8'), ('vz', '<f8')], 'fortran_order': False, 'shape': (2,), }\n",
              by_name),
          file_of(
              "{'descr': [('m', '<f8'), ('pos', '<f8', (3,)), ('vel', '<f8', (3,))], 'fortran_order': False, "
              "'shape': (2,), }\n",
              by_name),
          file_of("{'descr': [('Masses', '<f8'), ('Coordinates', '<f8', (3,)), ('Velocities', '<f8', (3,))], "
                  "'fortran_order': False, 'shape': (2,), }\n",
                  by_name),
          file_of("{'descr': [('name', '<U2'), ('m', '<f8'), ('pos', '<f8', (3,)), ('vel', '<f8', (3,)), "
                  "('kind', 'S8')], "
                  "'fortran_order': False, 'shape': (2,), }\n",
                  std::vector<double>{-1, 7, 1, 2, 3, 4, 5, 6, -1, -1, 14, 8, 9, 10, 11, 12, 13, -1})}) {
        const Bodies found = read(bytes);
        EXPECT_EQ(found.places, (std::vector<Vector>{{1, 2, 3}, {8, 9, 10}})) << bytes;
        EXPECT_EQ(found.velocities, (std::vector<Vector>{{4, 5, 6}, {11, 12, 13}}));
        EXPECT_EQ(found.masses, (std::vector<double>{7, 14}));
    }

    // Elements that are longer than the number in them.
    const Bodies padded =
        read(file_of("{'descr': [('a', '<f8'), ('', '|V8')], 'fortran_order': False, 'shape': (1, 4), }\n",
                     std::vector<double>{1, -1, 2, -1, 3, -1, 4, -1}));
    EXPECT_EQ(padded.places, (std::vector<Vector>{{1, 2, 3}}));
    EXPECT_EQ(padded.masses, (std::vector<double>{4}));

    const auto refused = [&](const std::string& bytes) { return refusal([&] { return read(bytes); }); };
    EXPECT_NE(refused(file_of("{'descr': [('x', '<f8'), ('y', '<f8'), ('name', '<U8')], 'fortran_order': "
                              "False, 'shape': (2,), }\n",
                              rows))
                  .find("no column is z"),
              std::string::npos);
    EXPECT_NE(refused(file_of("{'descr': '<f8', 'fortran_order': True, 'shape': (100000000, 7), }\n", rows))
                  .find("ends before"),
              std::string::npos);
    EXPECT_NE(refused(program::npy_of(rows, {7, 2})).find("its shape is 7 x 2"), std::string::npos);
    EXPECT_NE(refused(program::npy_of(rows, {14})).find("its shape is 14 numbers"), std::string::npos);
    EXPECT_NE(refused(program::npy_of(rows, {3, 7})).find("ends before"), std::string::npos);
    EXPECT_NE(refused("x,y").find("no .npy"), std::string::npos);
    rows[10] = std::nan("");
    EXPECT_NE(refused(program::npy_of(rows, {2, 7})).find("bodies.npy: row 2: field 4 (vx)"),
              std::string::npos);
}

TEST(BodyFiles, ComeBackAsTheyWereWritten) {
    const headrace::test::ScratchFolder folder;
    const Bodies bodies = plummer_sphere(50, 1);
    for (const char* name : {"bodies.csv", "bodies.npy"}) {
        const auto file = folder.path() / name;
        std::ofstream(file, std::ios::binary) << bodies_table(file, bodies);
        const Bodies read = read_bodies(file);
        EXPECT_EQ(read.places, bodies.places);
        EXPECT_EQ(read.velocities, bodies.velocities);
        EXPECT_EQ(read.masses, bodies.masses);
    }
    std::ofstream(folder.path() / "none.csv") << "x,y,z,vx,vy,vz,m\n";
    EXPECT_NE(refusal([&] { return read_bodies(folder.path() / "none.csv"); }).find("has no bodies"),
              std::string::npos);
    std::ofstream(folder.path() / "blanks.txt") << "1 2 3 4\n";
    EXPECT_EQ(read_bodies(folder.path() / "blanks.txt").size(), 1u);
    std::filesystem::rename(folder.path() / "bodies.npy", folder.path() / "bodies.dat");
    EXPECT_EQ(read_bodies(folder.path() / "bodies.dat").size(), 50u);
    EXPECT_THROW(static_cast<void>(read_bodies(folder.path() / "lost.csv")), Error);
}

/// Sums in which large terms cancel each other: a plain one says 0.
TEST(Totals, AreSummedWithoutLoss) {
    Bodies bodies;
    for (const double speed : {1e16, 1.0, -1e16}) {
        bodies.places.push_back({0, 1, 0});
        bodies.velocities.push_back({speed, 2 * speed, -3 * speed});
        bodies.masses.push_back(1);
    }
    const Totals totals = totals_of(bodies, std::vector<double>{1e17, -3, -1e17});
    EXPECT_EQ(totals.momentum, (Vector{1, 2, -3}));
    EXPECT_EQ(totals.angular_momentum, (Vector{-3, 0, -1})); // (0, 1, 0) x (1, 2, -3)
    EXPECT_EQ(totals.potential, -1.5);
    EXPECT_EQ(totals.kinetic, 14e32);

    const Bodies sphere = plummer_sphere(30000, 1);
    long double x = 0, z = 0;
    for (std::size_t i = 0; i < sphere.size(); ++i) {
        const Vector &at = sphere.places[i], &v = sphere.velocities[i];
        const auto mass = static_cast<long double>(sphere.masses[i]);
        x += mass * static_cast<long double>(v.x);
        z += mass * (static_cast<long double>(at.x) * static_cast<long double>(v.y) -
                     static_cast<long double>(at.y) * static_cast<long double>(v.x));
    }
    const Totals found = totals_of(sphere, std::vector<double>(sphere.size()));
    EXPECT_NEAR(found.momentum.x, static_cast<double>(x), 1e-19); // 0.5 of all |m v|, as doubles are rounded
    EXPECT_NEAR(found.angular_momentum.z, static_cast<double>(z), 1e-17);
    EXPECT_GT(std::abs(found.angular_momentum.z), 1e-4);
}

TEST(Totals, BeyondNumbersAreRefused) {
    const Bodies bodies{{{1e150, 0, 0}}, {{0, 1e100, 0}}, {1e100}};
    EXPECT_NE(refusal([&] { return totals_of(bodies, std::vector<double>{0}); }).find("beyond 1e308"),
              std::string::npos);
}

TEST(Density, AddsUpMassesWhereTheyAreSeen) {
    Bodies bodies;
    for (const Vector& place : {Vector{-1, 1, 0}, Vector{-1, 1, 9}, Vector{1, -1, 0}, Vector{1, -1, 3}}) {
        bodies.places.push_back(place);
        bodies.velocities.emplace_back();
        bodies.masses.push_back(2);
    }
    EXPECT_EQ(projected_density(bodies, 2), (std::vector<double>{4, 0, 0, 4})); // upper left, lower right
    EXPECT_EQ(density_png(bodies, 2).substr(1, 3), "PNG");
    EXPECT_EQ(density_png(plummer_sphere(1, 1), 16).substr(1, 3), "PNG");
}

} // namespace
} // namespace barnes_hut::test
