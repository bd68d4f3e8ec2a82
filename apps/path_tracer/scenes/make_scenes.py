#!/usr/bin/env python3
"""Writes three scenes of the kinds that people render, and the sky that lights one of them.

    python3 make_scenes.py FOLDER [BALLS]
    headrace-path-tracer --scene FOLDER/interior.gltf --max-depth 12 --out interior.png
    headrace-path-tracer --scene FOLDER/glass.gltf --sky 0.25,0.28,0.33 --max-depth 16 --out glass.png
    headrace-path-tracer --scene FOLDER/foliage.gltf --environment FOLDER/sky.hdr --max-depth 16 --exposure 2 --out foliage.png

interior.gltf  a room with a glossy floor, textures, a window and a lamp
glass.gltf     glasses and bowls: solid glass, rough glass, polished and brushed metal
foliage.gltf   trees and grass: leaves are what holes leave of squares, and trees and tufts are instances
crowd.gltf     with BALLS: so many balls of 16128 triangles, as instances

The script needs nothing but Python, and writes the same bytes each time.
"""
import math
import random
import struct
import sys
import zlib
from pathlib import Path

from make_materials import Gltf, material, sky, sphere


def png(width, height, pixel):
    """A picture of 8 bits: `pixel` gives 3 or 4 numbers from 0 to 1 for each column and row."""
    rows = [[pixel(x, y) for x in range(width)] for y in range(height)]
    data = b"".join(b"\0" + bytes(int(255 * part + 0.5) for p in row for part in p) for row in rows)
    has_opacity = len(rows[0][0]) == 4

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 6 if has_opacity else 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b"")
    )


class Shape:
    """Corners with normals and places in textures, and triangles."""

    def __init__(self):
        self.corners, self.normals, self.places, self.triangles = [], [], [], []

    def quad(self, origin, along, up, repeat=1.0):
        """A rectangle, seen from where `along` goes to the right and `up` upwards; `repeat` pictures on it."""
        normal = cross(along, up)
        size = math.sqrt(sum(part * part for part in normal))
        first = len(self.corners)
        for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)):
            self.corners.append(tuple(o + u * a + v * b for o, a, b in zip(origin, along, up)))
            self.normals.append(tuple(part / size for part in normal))
            self.places.append((u * repeat, (1 - v) * repeat))
        self.triangles += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
        return self

    def box(self, lo, hi):
        (x, y, z), (w, h, d) = lo, [b - a for a, b in zip(lo, hi)]
        self.quad((x, y, z + d), (w, 0, 0), (0, h, 0)).quad((x + w, y, z), (-w, 0, 0), (0, h, 0))
        self.quad((x, y, z), (0, 0, d), (0, h, 0)).quad((x + w, y, z + d), (0, 0, -d), (0, h, 0))
        return self.quad((x, y + h, z + d), (w, 0, 0), (0, 0, -d)).quad((x, y, z), (w, 0, 0), (0, 0, d))

    def lathe(self, profile, around=96):
        """Turns (radius, height) around +y, from below to above on the outside: outside is to the right."""
        first = len(self.corners)
        for i, (radius, height) in enumerate(profile):
            before, after = profile[max(i - 1, 0)], profile[min(i + 1, len(profile) - 1)]
            outwards, upwards = after[1] - before[1], before[0] - after[0]
            size = math.hypot(outwards, upwards)
            for j in range(around + 1):
                cosine, sine = math.cos(2 * math.pi * j / around), -math.sin(2 * math.pi * j / around)
                self.corners.append((radius * cosine, height, radius * sine))
                self.normals.append((outwards / size * cosine, upwards / size, outwards / size * sine))
                self.places.append((j / around, 1 - i / (len(profile) - 1)))
        for i in range(len(profile) - 1):
            for j in range(around):
                a, b = first + i * (around + 1) + j, first + (i + 1) * (around + 1) + j
                self.triangles += [(a, a + 1, b), (a + 1, b + 1, b)]
        return self


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


class Scene(Gltf):
    """A glTF with textures and instances."""

    def __init__(self):
        super().__init__()
        self.json["asset"]["generator"] = "make_scenes.py"

    def view(self, data):
        self.bytes += b"\0" * (-len(self.bytes) % 4)
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(data)})
        self.bytes += data
        return len(self.json["bufferViews"]) - 1

    def floats(self, values, kind):
        view = self.view(b"".join(struct.pack(f"<{len(value)}f", *value) for value in values))
        accessor = {"bufferView": view, "componentType": 5126, "type": kind, "count": len(values)}
        self.json["accessors"].append(accessor)
        return len(self.json["accessors"]) - 1

    def texture(self, picture):
        for key in ("images", "textures"):
            self.json.setdefault(key, [])
        self.json["images"].append({"bufferView": self.view(picture), "mimeType": "image/png"})
        self.json["textures"].append({"source": len(self.json["images"]) - 1})
        return {"index": len(self.json["textures"]) - 1}

    def part(self, shape, its_material):
        """A primitive."""
        corners = self.floats(shape.corners, "VEC3")
        for bound, choose in (("min", min), ("max", max)):
            self.json["accessors"][corners][bound] = [choose(c[i] for c in shape.corners) for i in range(3)]
        attributes = {"POSITION": corners, "NORMAL": self.floats(shape.normals, "VEC3")}
        attributes["TEXCOORD_0"] = self.floats(shape.places, "VEC2")
        indices = self.view(b"".join(struct.pack("<3I", *triangle) for triangle in shape.triangles))
        accessor = {"bufferView": indices, "componentType": 5125, "type": "SCALAR", "count": 3 * len(shape.triangles)}
        self.json["accessors"].append(accessor)
        self.json["materials"].append(its_material)
        number = len(self.json["materials"]) - 1
        return {"attributes": attributes, "indices": len(self.json["accessors"]) - 1, "material": number}

    def mesh(self, *parts, **where):
        self.json["meshes"].append({"primitives": list(parts)})
        self.node(mesh=len(self.json["meshes"]) - 1, **where)

    def crowd(self, parts, shifts, turns, scales):
        """The same in many places."""
        attributes = {
            "TRANSLATION": self.floats(shifts, "VEC3"),
            "ROTATION": self.floats(turns, "VEC4"),
            "SCALE": self.floats(scales, "VEC3"),
        }
        self.mesh(*parts, extensions={"EXT_mesh_gpu_instancing": {"attributes": attributes}})

    def camera(self, eye, down_degrees, turn_degrees, angle):
        self.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": math.radians(angle), "znear": 0.1}}]
        pitch, yaw = -math.radians(down_degrees) / 2, math.radians(turn_degrees) / 2
        turn = [
            math.sin(pitch) * math.cos(yaw), math.cos(pitch) * math.sin(yaw),
            -math.sin(pitch) * math.sin(yaw), math.cos(pitch) * math.cos(yaw),
        ]
        self.node(camera=0, translation=list(eye), rotation=turn)


MATT = {"specular": {"specularFactor": 0}}


def matt(name, colour):
    return material(name, colour, 0, 1, **MATT)


def lamp(name, colour, strength):
    made = material(name, (0, 0, 0), 0, 1, emissive_strength={"emissiveStrength": strength}, **MATT)
    made["emissiveFactor"] = list(colour)
    return made


def textured(made, texture, roughness=None):
    made["pbrMetallicRoughness"]["baseColorTexture"] = texture
    if roughness:
        made["pbrMetallicRoughness"]["metallicRoughnessTexture"] = roughness
    return made


# ---- pictures


def planks(x, y):
    plank = y // 32
    grain = 0.08 * math.sin(0.13 * x + 5 * math.sin(0.05 * x + plank) + 0.8 * (y % 32)) + 0.1 * math.sin(7.3 * plank)
    edge = 0.35 if y % 32 == 0 or (x + 97 * plank) % 256 == 0 else 1
    return tuple(min(1, max(0, part * (1 + grain) * edge)) for part in (0.62, 0.42, 0.27))


def gloss(x, y):
    return 0, 0.75 + 0.25 * math.sin(0.11 * x + 3 * math.sin(0.07 * y)), 0


def stripes(x, _):
    return (0.75, 0.72, 0.62) if x // 16 % 2 else (0.66, 0.68, 0.62)


def poster(x, y):
    d = math.hypot(x - 64, y - 48)
    return tuple(0.5 + 0.45 * math.cos(d / 6 + shift) for shift in (0, 2, 4))


def leaf(x, y):
    """A spray of leaves on nothing."""
    for number in range(7):
        angle = (number - 3) * 0.5
        u = (x - 32) * math.cos(angle) + (y - 62) * math.sin(angle)
        v = (x - 32) * math.sin(angle) - (y - 62) * math.cos(angle)
        middle = 34 + 6 * (number % 3)
        if (u / 6) ** 2 + ((v - middle) / 15) ** 2 < 1:
            shade = 0.75 + 0.2 * math.sin(1.3 * number) - 0.02 * abs(u)
            return 0.22 * shade, 0.5 * shade, 0.1 * shade, 1
        if abs(u) < 0.8 and 0 < v < middle:
            return 0.3, 0.25, 0.1, 1
    return 0.2, 0.4, 0.1, 0


def blade(x, y):
    """Grass on nothing."""
    for number in range(6):
        root, top = 8 + 10 * number, 8 + 10 * number + 9 * math.sin(2.1 * number)
        height = (64 - y) / (64 - 6 * (number % 4))
        if height < 1 and abs(x - (root + (top - root) * height * height)) < 2.6 * (1 - height) + 0.3:
            return 0.25 + 0.2 * height, 0.45 + 0.15 * height, 0.12, 1
    return 0.3, 0.5, 0.15, 0


# ---- scenes


def interior():
    scene = Scene()
    wood = textured(material("floor", (1, 1, 1), 0, 0.35), scene.texture(png(256, 256, planks)),
                    scene.texture(png(128, 128, gloss)))
    paper = scene.texture(png(64, 64, stripes))
    scene.mesh(scene.part(Shape().quad((-3, 0, 2.5), (6, 0, 0), (0, 0, -5), 3), wood))
    scene.mesh(scene.part(Shape().quad((-3, 3, -2.5), (6, 0, 0), (0, 0, 5)), matt("ceiling", (0.8, 0.8, 0.78))))
    walls = Shape().quad((-3, 0, -2.5), (6, 0, 0), (0, 3, 0), 4).quad((3, 0, 2.5), (-6, 0, 0), (0, 3, 0), 4)
    walls.quad((3, 0, -2.5), (0, 0, 5), (0, 3, 0), 4)
    for z, depth in ((-2.5, 1.2), (0.7, 1.8)):  # beside the window
        walls.quad((-3, 0, z + depth), (0, 0, -depth), (0, 3, 0), 2)
    for y, height in ((0, 0.8), (2.4, 0.6)):  # below and above it
        walls.quad((-3, y, 0.7), (0, 0, -2), (0, height, 0), 2)
    scene.mesh(scene.part(walls, textured(matt("walls", (1, 1, 1)), paper)))
    scene.mesh(scene.part(Shape().quad((-3.2, 0.8, 0.7), (0, 0, -2), (0, 1.6, 0)), lamp("window", (0.8, 0.9, 1), 14)))
    reveal = Shape().quad((-3.2, 0.8, 0.7), (0.2, 0, 0), (0, 0, -2)).quad((-3.2, 2.4, -1.3), (0.2, 0, 0), (0, 0, 2))
    reveal.quad((-3.2, 0.8, -1.3), (0.2, 0, 0), (0, 1.6, 0)).quad((-3, 0.8, 0.7), (-0.2, 0, 0), (0, 1.6, 0))
    scene.mesh(scene.part(reveal, matt("reveal", (0.75, 0.75, 0.75))))
    painting = textured(matt("painting", (1, 1, 1)), scene.texture(png(128, 96, poster)))
    scene.mesh(scene.part(Shape().quad((-0.2, 1.3, -2.48), (1.6, 0, 0), (0, 1.2, 0)), painting))
    table = Shape().box((-0.9, 0.72, -1.3), (1.1, 0.76, -0.3))
    for x in (-0.85, 0.99):
        for z in (-1.25, -0.41):
            table.box((x, 0, z), (x + 0.06, 0.72, z + 0.06))
    lacquer = material("lacquer", (0.25, 0.08, 0.05), 0, 0.5,
                       clearcoat={"clearcoatFactor": 1, "clearcoatRoughnessFactor": 0.08})
    scene.mesh(scene.part(table, lacquer))
    vase = [(0.001, 0), (0.09, 0), (0.13, 0.08), (0.14, 0.16), (0.1, 0.27), (0.05, 0.33), (0.06, 0.38), (0.05, 0.38),
            (0.04, 0.33), (0.09, 0.27), (0.13, 0.16), (0.12, 0.09), (0.001, 0.02)]
    ceramic = material("ceramic", (0.1, 0.25, 0.5), 0, 0.15)
    scene.mesh(scene.part(Shape().lathe(smooth(vase)), ceramic), translation=[0.5, 0.76, -0.8])
    ball = scene.shape(sphere(), True)
    scene.place(ball, material("brass", (0.9, 0.7, 0.35), 1, 0.2), translation=[-0.3, 0.9, -0.7], scale=[0.14] * 3)
    scene.place(ball, lamp("bulb", (1, 0.8, 0.5), 60), translation=[1.9, 2.2, -1.6], scale=[0.08] * 3)
    sofa = Shape().box((1.4, 0.15, 0.2), (2.8, 0.5, 2)).box((2.5, 0.5, 0.2), (2.8, 1, 2))
    cloth = material("cloth", (0.3, 0.1, 0.12), 0, 0.9, sheen={"sheenColorFactor": [0.6, 0.4, 0.4],
                                                             "sheenRoughnessFactor": 0.4})
    scene.mesh(scene.part(sofa, cloth))
    scene.camera((2.3, 1.55, 2.35), 8, 19, 58)
    return scene


def smooth(profile, between=6):
    """A curve through all points (Catmull and Rom)."""
    made = []
    for i in range(len(profile) - 1):
        a, b, c, d = (profile[min(max(j, 0), len(profile) - 1)] for j in (i - 1, i, i + 1, i + 2))
        for k in range(between):
            t = k / between
            made.append(tuple(
                0.5 * (2 * q + (r - p) * t + (2 * p - 5 * q + 4 * r - s) * t * t + (3 * q - p - 3 * r + s) * t ** 3)
                for p, q, r, s in zip(a, b, c, d)))
    made.append(profile[-1])
    return [(max(radius, 0.001), height) for radius, height in made]


def glass():
    scene = Scene()
    marble = textured(material("table", (1, 1, 1), 0, 0.25), scene.texture(png(256, 256, lambda x, y: tuple(
        0.75 + 0.2 * math.sin(0.05 * x + 4 * math.sin(0.03 * y + 0.02 * x)) for _ in range(3)))))
    scene.mesh(scene.part(Shape().quad((-4, 0, 4), (8, 0, 0), (0, 0, -8), 2), marble))
    goblet = [(0.001, 0), (0.4, 0), (0.4, 0.03), (0.08, 0.08), (0.05, 0.3), (0.06, 0.6), (0.3, 0.8), (0.42, 1.1),
              (0.36, 1.5), (0.33, 1.5), (0.39, 1.1), (0.27, 0.84), (0.001, 0.72)]
    tumbler = [(0.001, 0), (0.3, 0), (0.32, 0.05), (0.36, 0.7), (0.33, 0.7), (0.29, 0.12), (0.001, 0.1)]
    bowl = [(0.001, 0), (0.25, 0), (0.5, 0.15), (0.7, 0.45), (0.68, 0.46), (0.47, 0.18), (0.001, 0.04)]
    shapes = [Shape().lathe(smooth(profile)) for profile in (goblet, tumbler, bowl)]

    def solid(name, colour, roughness):
        return material(name, (1, 1, 1), 0, roughness, transmission={"transmissionFactor": 1}, ior={"ior": 1.52},
                        volume={"thicknessFactor": 1, "attenuationDistance": 0.4, "attenuationColor": list(colour)})

    things = [
        (0, solid("clear glass", (0.95, 0.98, 0.97), 0), -1.5, -0.3), (0, solid("green glass", (0.4, 0.8, 0.5), 0), -0.4, -0.7),
        (0, solid("frosted glass", (0.9, 0.95, 1), 0.3), 0.7, -0.4), (1, solid("tumbler", (0.9, 0.97, 1), 0), -0.8, 0.6),
        (1, solid("amber", (0.9, 0.6, 0.2), 0), 0.3, 0.7), (2, material("gold", (1, 0.77, 0.34), 1, 0.15), 1.6, 0.2),
        (2, material("steel", (0.6, 0.6, 0.62), 1, 0.4), -1.9, 0.9), (1, material("copper", (0.95, 0.64, 0.54), 1, 0), 1.2, 1.1),
    ]
    for number, its_material, x, z in things:
        scene.mesh(scene.part(shapes[number], its_material), translation=[x, 0, z])
    lamps = Shape().quad((-3.8, 1.6, 1.8), (1.3, 1.8, 0), (0, 0, -2.6)).quad((3.4, 0.9, -0.6), (0.8, 1.9, 0), (0, 0, -1.6))
    scene.mesh(scene.part(lamps, lamp("lamps", (1, 0.95, 0.88), 9)))
    scene.camera((0, 1.9, 4.2), 18, 0, 38)
    return scene


def foliage():
    scene = Scene()
    chance = random.Random(7)
    scene.mesh(scene.part(Shape().quad((-60, 0, 60), (120, 0, 0), (0, 0, -120)), matt("earth", (0.18, 0.13, 0.08))))

    def cut_out(name, picture):
        made = textured(material(name, (1, 1, 1), 0, 0.7), scene.texture(png(64, 64, picture)))
        return {**made, "alphaMode": "MASK", "doubleSided": True}

    def turned(length):
        angle, rise = chance.uniform(0, 2 * math.pi), chance.uniform(-0.6, 0.9)
        return (length * math.cos(angle), length * rise, length * math.sin(angle))

    crown, bark = Shape(), Shape().lathe(smooth([(0.28, 0), (0.2, 0.6), (0.16, 2), (0.1, 3.5), (0.02, 5)]), 16)
    for _ in range(2500):
        height = 1.6 + 3.8 * chance.random()
        radius = 1.7 * math.sqrt(max(0, 1 - ((height - 3.2) / 2.4) ** 2)) * math.sqrt(chance.random())
        angle = chance.uniform(0, 2 * math.pi)
        crown.quad((radius * math.cos(angle), height, radius * math.sin(angle)), turned(0.45), turned(0.45))
    tuft = Shape()
    for turn in range(3):
        x, z = 0.3 * math.cos(turn * math.pi / 3), 0.3 * math.sin(turn * math.pi / 3)
        tuft.quad((-x, 0, -z), (2 * x, 0, 2 * z), (0, 0.5, 0))

    def scattered(count, extent, least, most):
        shifts, turns, scales = [], [], []
        for _ in range(count):
            shifts.append((chance.uniform(-extent, extent), 0, chance.uniform(-extent, 8)))
            half = chance.uniform(0, math.pi)
            turns.append((0, math.sin(half), 0, math.cos(half)))
            size = chance.uniform(least, most)
            scales.append((size, size * chance.uniform(0.8, 1.2), size))
        return shifts, turns, scales

    trees = [scene.part(crown, cut_out("leaves", leaf)), scene.part(bark, matt("bark", (0.25, 0.17, 0.1)))]
    scene.crowd(trees, *scattered(110, 45, 0.7, 1.4))
    scene.crowd([scene.part(tuft, cut_out("grass", blade))], *scattered(40000, 40, 0.6, 1.3))
    scene.camera((2, 2.2, 14), 1, 12, 50)
    return scene


def crowd(count):
    scene = Scene()
    chance = random.Random(1)
    half_circle = [(0.5 * math.sin(math.pi * i / 64), -0.5 * math.cos(math.pi * i / 64)) for i in range(65)]
    ball = scene.part(Shape().lathe(half_circle, 128), material("ball", (0.8, 0.6, 0.4), 0, 0.4))
    side = round(count ** (1 / 3) * 1.6)
    shifts, turns, scales = [], [], []
    for _ in range(count):
        shifts.append(tuple(chance.uniform(-side / 2, side / 2) for _ in range(3)))
        turn = [chance.gauss(0, 1) for _ in range(4)]
        turns.append(tuple(part / math.hypot(*turn) for part in turn))
        scales.append(tuple(chance.uniform(0.5, 1.5) for _ in range(3)))
    scene.crowd([ball], shifts, turns, scales)
    return scene


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) > 2:
        crowd(int(sys.argv[2])).write(folder / "crowd.gltf")
    for name, make in (("interior", interior), ("glass", glass), ("foliage", foliage)):
        make().write(folder / f"{name}.gltf")
    (folder / "sky.hdr").write_bytes(sky())


if __name__ == "__main__":
    main()
