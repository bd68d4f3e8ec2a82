#!/usr/bin/env python3
"""Writes materials.gltf, rows of spheres, each row a material, rougher from left to right; and sky.hdr, a sky with a sun.

    python3 make_materials.py FOLDER
    headrace-path-tracer --scene FOLDER/materials.gltf --width 960 --height 640 --spp 1024 --max-depth 16 \
                         --sky 0.5,0.55,0.6 --out materials.png

The rows, from the upper one to the lower one: gold, red plastic, rough glass, panes of rough glass, a coat on blue,
and cloth. With `--environment FOLDER/sky.hdr` in place of `--sky`, the sun shines on them. The script needs nothing but Python, and writes the same bytes each time.
"""
import base64
import json
import math
import struct
import sys
from pathlib import Path

COLUMNS = 6
BANDS = 32  # of a sphere, from pole to pole


def sphere():
    """Corners, which are their own normals, and triangles."""
    corners, triangles = [], []
    for band in range(BANDS + 1):
        for column in range(2 * BANDS + 1):
            up, around = math.pi * band / BANDS, math.pi * column / BANDS
            corners.append((math.sin(up) * math.cos(around), math.cos(up), -math.sin(up) * math.sin(around)))
    width = 2 * BANDS + 1
    for band in range(BANDS):
        for column in range(2 * BANDS):
            here, below = band * width + column, (band + 1) * width + column
            triangles += [(here, below, here + 1), (here + 1, below, below + 1)]
    return corners, triangles


def square():
    return [(-1, 0, -1), (-1, 0, 1), (1, 0, 1), (1, 0, -1)], [(0, 1, 2), (0, 2, 3)]


def material(name, colour, metallic, roughness, **extensions):
    return {
        "name": name,
        "pbrMetallicRoughness": {
            "baseColorFactor": [*colour, 1],
            "metallicFactor": metallic,
            "roughnessFactor": roughness,
        },
        "extensions": {f"KHR_materials_{key}": value for key, value in extensions.items()},
    }


def rows(roughness):
    """The materials of a column, the upper one first."""
    window = {"transmissionFactor": 1}
    return [
        material("gold", (1, 0.77, 0.34), 1, roughness),
        material("plastic", (0.7, 0.05, 0.04), 0, roughness),
        material(
            "glass", (1, 1, 1), 0, roughness, transmission=window,
            volume={"thicknessFactor": 1, "attenuationDistance": 0.5, "attenuationColor": [0.6, 0.9, 0.75]},
        ),
        material("pane", (0.95, 0.85, 0.6), 0, roughness, transmission=window),
        material(
            "coat", (0.05, 0.1, 0.5), 0.5, 0.6,
            clearcoat={"clearcoatFactor": 1, "clearcoatRoughnessFactor": roughness},
        ),
        material(
            "cloth", (0.15, 0.05, 0.2), 0, 1,
            sheen={"sheenColorFactor": [0.9, 0.7, 0.8], "sheenRoughnessFactor": max(roughness, 0.2)},
        ),
    ]


class Gltf:
    def __init__(self):
        self.bytes = b""
        self.json = {
            "asset": {"version": "2.0", "generator": "make_materials.py"},
            "scene": 0, "scenes": [{"nodes": []}], "nodes": [], "meshes": [], "materials": [],
            "accessors": [], "bufferViews": [], "cameras": [],
        }

    def accessor(self, values, code, component, kind):
        data = b"".join(struct.pack(f"<{len(value)}{code}", *value) for value in values)
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(data)})
        self.bytes += data
        accessor = {"bufferView": len(self.json["bufferViews"]) - 1, "componentType": component, "type": kind}
        accessor["count"] = len(values) if kind == "VEC3" else 3 * len(values)
        if kind == "VEC3":
            accessor["min"] = [min(value[i] for value in values) for i in range(3)]
            accessor["max"] = [max(value[i] for value in values) for i in range(3)]
        self.json["accessors"].append(accessor)
        return len(self.json["accessors"]) - 1

    def shape(self, shape, normals):
        corners, triangles = shape
        attributes = {"POSITION": self.accessor(corners, "f", 5126, "VEC3")}
        if normals:
            attributes["NORMAL"] = self.accessor(corners, "f", 5126, "VEC3")
        return {"attributes": attributes, "indices": self.accessor(triangles, "H", 5123, "SCALAR")}

    def node(self, **node):
        self.json["scenes"][0]["nodes"].append(len(self.json["nodes"]))
        self.json["nodes"].append(node)

    def place(self, shape, its_material, **where):
        self.json["materials"].append(its_material)
        mesh = {"primitives": [{**shape, "material": len(self.json["materials"]) - 1}]}
        self.json["meshes"].append(mesh)
        self.node(mesh=len(self.json["meshes"]) - 1, **where)

    def write(self, file):
        uri = "data:application/octet-stream;base64," + base64.b64encode(self.bytes).decode()
        self.json["buffers"] = [{"byteLength": len(self.bytes), "uri": uri}]
        entries = self.json["materials"] + self.json["nodes"]
        used = {name for entry in entries for name in entry.get("extensions", {})}
        self.json["extensionsUsed"] = sorted(used)
        file.write_text(json.dumps(self.json, indent=1) + "\n")


def rgbe(colour):
    """A pixel of Radiance's format: mantissas of 8 bits, and their exponent."""
    fraction, exponent = math.frexp(max(colour))
    return bytes([min(255, int(part * 2 ** (8 - exponent))) for part in colour] + [exponent + 128])


def sky(width=256, height=128):
    pixels = b""
    for row in range(height):
        for column in range(width):
            down = (row + 0.5) / height
            colour = (0.3 + 0.4 * down, 0.45 + 0.35 * down, 0.9) if down < 0.5 else (0.25, 0.22, 0.2)
            if (column - 90) ** 2 + (row - 36) ** 2 < 4:
                colour = (4000, 3600, 3000)  # the sun
            pixels += rgbe(colour)
    return f"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n".encode() + pixels


def main():
    gltf = Gltf()
    ball, flat = gltf.shape(sphere(), True), gltf.shape(square(), False)
    for column in range(COLUMNS):
        for row, its_material in enumerate(rows(column / (COLUMNS - 1))):
            place = [(column - (COLUMNS - 1) / 2) * 1.25, 0.5, (row - 2.5) * 1.25]
            gltf.place(ball, its_material, translation=place, scale=[0.5, 0.5, 0.5])
    lambert = {"specular": {"specularFactor": 0}}
    for x in range(-5, 6):  # a floor of two colours, so that mirrors and glass have something to show
        for z in range(-5, 6):
            grey = 0.55 if (x + z) % 2 else 0.25
            gltf.place(flat, material("tile", (grey, grey, grey), 0, 1, **lambert), translation=[x, 0, z],
                       scale=[0.5, 1, 0.5])
    lamp = material("lamp", (0, 0, 0), 0, 1, emissive_strength={"emissiveStrength": 12}, **lambert)
    lamp["emissiveFactor"] = [1, 0.95, 0.85]
    gltf.place(flat, lamp, translation=[-3, 6, -3], scale=[1.5, 1, 1.5])
    gltf.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 0.6, "znear": 0.1}}]
    tilt = math.radians(-52) / 2
    gltf.node(camera=0, translation=[0, 8.6, 7.0], rotation=[math.sin(tilt), 0, 0, math.cos(tilt)])
    gltf.write(Path(sys.argv[1]) / "materials.gltf")
    (Path(sys.argv[1]) / "sky.hdr").write_bytes(sky())


if __name__ == "__main__":
    main()
