// apps/path_tracer/scenes/make_demo.mjs - writes demo.gltf and demo.bin beside itself. Their users need it not.
//
//     npm pack snowden && tar xzf snowden-1.0.1.tgz
//     node make_demo.mjs ./package
//
// Metres, +y up; the viewer looks towards -z. Everything but the bust is made here. Corners run counter-clockwise as
// seen from outside of a body: glass needs that, and the rest does not mind.
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const scan = createRequire(import.meta.url)(resolve(process.argv[2] ?? 'package'));

const room = { left: -2.4, right: 2.4, floor: 0, ceiling: 2.9, back: -2, front: 3.8 };
const niche = { half: 0.85, springing: 1.55, depth: 0.4, segments: 48 };
const lamp = { x: -0.9, z: 1.1, half: 1.2, recess: 0.08 };
const eye = [0, 1.32, 3.6], target = [0, 0.98, 0], vertical_fov_degrees = 36;

const materials = [
    { name: 'white', colour: [0.78, 0.77, 0.74] },
    { name: 'terracotta', colour: [0.66, 0.20, 0.11] },
    { name: 'petrol', colour: [0.06, 0.30, 0.36] },
    { name: 'niche', colour: [0.16, 0.21, 0.30] },
    { name: 'light tile', colour: [0.68, 0.63, 0.55] },
    { name: 'dark tile', colour: [0.16, 0.15, 0.15] },
    { name: 'plinth', colour: [0.55, 0.53, 0.50] },
    { name: 'plaster', colour: [0.66, 0.62, 0.56] },
    { name: 'lamp', colour: [0, 0, 0], radiance: [6.4, 5.9, 5.05] },
    { name: 'glass', colour: [1, 1, 1], ior: 1.5 },
    { name: 'mirror', colour: [0.95, 0.95, 0.95], metal: true },
    { name: 'gold', colour: [1.0, 0.77, 0.34], metal: true },
];

// Numbered as they are first used, and none unused: some importers number them so, whatever the file says.
const used_materials = [];
function material_of(name) {
    const known = used_materials.findIndex(material => material.name === name);
    return known >= 0 ? known : used_materials.push(materials.find(material => material.name === name)) - 1;
}

// ---- the parts of the room: for each material a list of quads, four corners each

const quads = new Map();
function quad(material, a, b, c, d) {
    if (!quads.has(material)) quads.set(material, []);
    quads.get(material).push([a, b, c, d]);
}

/// A box that stands on something: no bottom.
function box(material, [x0, y0, z0], [x1, y1, z1]) {
    quad(material, [x0, y0, z1], [x1, y0, z1], [x1, y1, z1], [x0, y1, z1]);
    quad(material, [x1, y0, z0], [x0, y0, z0], [x0, y1, z0], [x1, y1, z0]);
    quad(material, [x0, y0, z0], [x0, y0, z1], [x0, y1, z1], [x0, y1, z0]);
    quad(material, [x1, y0, z1], [x1, y0, z0], [x1, y1, z0], [x1, y1, z1]);
    quad(material, [x0, y1, z1], [x1, y1, z1], [x1, y1, z0], [x0, y1, z0]);
}

function make_floor() {
    const columns = 12, rows = 15; // a room that shows its tiles uncut
    const x = i => room.left + (room.right - room.left) * i / columns;
    const z = j => room.back - niche.depth + (room.front - room.back + niche.depth) * j / rows;
    for (let j = 0; j < rows; ++j)
        for (let i = 0; i < columns; ++i)
            quad((i + j) % 2 ? 'dark tile' : 'light tile',
                 [x(i), 0, z(j + 1)], [x(i + 1), 0, z(j + 1)], [x(i + 1), 0, z(j)], [x(i), 0, z(j)]);
}

function make_walls() {
    const { left, right, floor, ceiling, back, front } = room;
    const wall = (material, x0, z0, x1, z1) =>
        quad(material, [x0, floor, z0], [x1, floor, z1], [x1, ceiling, z1], [x0, ceiling, z0]);
    wall('terracotta', left, front, left, back);
    wall('petrol', right, back, right, front);
    wall('white', right, front, left, front); // behind the viewer
    wall('white', left, back, -niche.half, back);
    wall('white', niche.half, back, right, back);

    // The arch, from its right springing to its left; beside the niche it is the wall's edge.
    const arch = [];
    for (let i = 0; i <= niche.segments; ++i) {
        const angle = Math.PI * i / niche.segments;
        arch.push([niche.half * Math.cos(angle), niche.springing + niche.half * Math.sin(angle)]);
    }
    const end = back - niche.depth;
    const outline = [[niche.half, floor], ...arch, [-niche.half, floor]];
    for (let i = 0; i + 1 < outline.length; ++i) {
        const [[x0, y0], [x1, y1]] = [outline[i], outline[i + 1]];
        quad('niche', [x0, y0, back], [x1, y1, back], [x1, y1, end], [x0, y0, end]);
    }
    for (let i = 0; i < niche.segments; ++i) {
        const [[x0, y0], [x1, y1]] = [arch[i], arch[i + 1]];
        quad('white', [x1, y1, back], [x0, y0, back], [x0, ceiling, back], [x1, ceiling, back]);
        quad('niche', [x1, floor, end], [x0, floor, end], [x0, y0, end], [x1, y1, end]);
    }

    // A skirting board along the walls that are in sight.
    const thick = 0.025, high = 0.12;
    box('white', [left, 0, back], [left + thick, high, front]);
    box('white', [right - thick, 0, back], [right, high, front]);
    box('white', [left, 0, back], [-niche.half, high, back + thick]);
    box('white', [niche.half, 0, back], [right, high, back + thick]);
}

/// The lamp shines out of a recess, so that no light is wasted on its back.
function make_ceiling() {
    const y = room.ceiling, top = y + lamp.recess;
    const x = [room.left, lamp.x - lamp.half, lamp.x + lamp.half, room.right];
    const z = [room.back, lamp.z - lamp.half, lamp.z + lamp.half, room.front];
    for (let j = 0; j < 3; ++j)
        for (let i = 0; i < 3; ++i) {
            const is_lamp = i === 1 && j === 1, h = is_lamp ? top : y;
            quad(is_lamp ? 'lamp' : 'white',
                 [x[i], h, z[j]], [x[i + 1], h, z[j]], [x[i + 1], h, z[j + 1]], [x[i], h, z[j + 1]]);
        }
    const rim = [[x[1], z[1]], [x[2], z[1]], [x[2], z[2]], [x[1], z[2]]];
    rim.forEach(([x0, z0], i) => {
        const [x1, z1] = rim[(i + 1) % 4];
        quad('white', [x0, y, z0], [x1, y, z1], [x1, top, z1], [x0, top, z0]);
    });
}

const bust = { x: 0, z: -0.45, stands_at: 0.72, scale: 0.158, turned_degrees: 17 };

function make_plinth() {
    const step = (half, from, to) =>
        box('plinth', [bust.x - half, from, bust.z - half], [bust.x + half, to, bust.z + half]);
    step(0.42, 0, 0.10);
    step(0.34, 0.10, bust.stands_at - 0.08);
    step(0.42, bust.stands_at - 0.08, bust.stands_at);
}

// ---- the bust

/// The scan without its parts of a few triangles, which float in the air. Vertices keep their order and their bits.
function without_crumbs({ positions, cells }) {
    const parent = positions.map((_, i) => i);
    const part = i => {
        while (parent[i] !== i) i = parent[i] = parent[parent[i]];
        return i;
    };
    for (const [a, b, c] of cells) {
        parent[part(a)] = part(b);
        parent[part(b)] = part(c);
    }
    const sizes = new Map();
    for (const [a] of cells) sizes.set(part(a), (sizes.get(part(a)) ?? 0) + 1);
    const stays = i => sizes.get(part(i)) >= 100; // the bust has 108 193, its spectacles 1064
    let kept = 0;
    const number = positions.map((_, i) => (stays(i) ? kept++ : -1));
    return {
        positions: positions.filter((_, i) => stays(i)),
        cells: cells.filter(([a]) => stays(a)).map(cell => cell.map(i => number[i])),
    };
}

// ---- the sphere: an icosahedron with each face cut into n^2 triangles

/// Facets have one normal, and what a mirror shows turns twice as far as the normal from one to the next: pixels
/// must not see them, so there are many.
function unit_sphere(n) {
    const phi = (1 + Math.sqrt(5)) / 2;
    const corners = [[-1, phi, 0], [1, phi, 0], [-1, -phi, 0], [1, -phi, 0], [0, -1, phi], [0, 1, phi],
                     [0, -1, -phi], [0, 1, -phi], [phi, 0, -1], [phi, 0, 1], [-phi, 0, -1], [-phi, 0, 1]];
    const faces = [[0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11], [1, 5, 9], [5, 11, 4], [11, 10, 2],
                   [10, 7, 6], [7, 1, 8], [3, 9, 4], [3, 4, 2], [3, 2, 6], [3, 6, 8], [3, 8, 9], [4, 9, 5],
                   [2, 4, 11], [6, 2, 10], [8, 6, 7], [9, 8, 1]];
    const positions = [], indices = [], known = new Map();
    const vertex = weights => { // [corner, weight] pairs; those of an edge are met from both of its faces
        const key = weights.filter(([, weight]) => weight).sort(([a], [b]) => a - b).join();
        if (!known.has(key)) {
            const sum = [0, 1, 2].map(k => weights.reduce((s, [c, weight]) => s + corners[c][k] * weight, 0));
            known.set(key, positions.push(sum.map(value => value / Math.hypot(...sum))) - 1);
        }
        return known.get(key);
    };
    for (const [a, b, c] of faces) {
        const at = (i, j) => vertex([[a, n - i - j], [b, i], [c, j]]);
        for (let i = 0; i < n; ++i)
            for (let j = 0; i + j < n; ++j) {
                indices.push(at(i, j), at(i + 1, j), at(i, j + 1));
                if (i + j + 2 <= n) indices.push(at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            }
    }
    return { positions, indices };
}

// ---- glTF

const chunks = [], views = [], accessors = [];
function accessor(array, target, rest) {
    const at = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
    chunks.push(bytes, Buffer.alloc(-bytes.length & 3));
    views.push({ buffer: 0, byteOffset: at, byteLength: bytes.length, target });
    return accessors.push({ bufferView: views.length - 1, ...rest }) - 1;
}
const FLOAT = 5126, UNSIGNED_SHORT = 5123, UNSIGNED_INT = 5125, VERTICES = 34962, INDICES = 34963;

/// Positions and indices of a primitive, without its material; several primitives may share them.
function geometry(positions, indices) {
    const xyz = new Float32Array(positions.flat());
    const bound = pick => [0, 1, 2].map(k => positions.reduce((best, _, i) => pick(best, xyz[3 * i + k]), xyz[k]));
    const is_small = positions.length < 65535;
    return {
        attributes: {
            POSITION: accessor(xyz, VERTICES, {
                componentType: FLOAT, type: 'VEC3', count: positions.length, min: bound(Math.min), max: bound(Math.max),
            }),
        },
        indices: accessor(is_small ? new Uint16Array(indices) : new Uint32Array(indices), INDICES, {
            componentType: is_small ? UNSIGNED_SHORT : UNSIGNED_INT, type: 'SCALAR', count: indices.length,
        }),
    };
}
const with_material = (shape, name) => ({ ...shape, material: material_of(name) });

function gltf_material({ name, colour, radiance, ior, metal }) {
    const material = {
        name,
        pbrMetallicRoughness: {
            baseColorFactor: [...colour, 1], metallicFactor: metal ? 1 : 0, roughnessFactor: metal || ior ? 0 : 1,
        },
    };
    // Lambert alone, and solid glass: this is what the room has shown since its first picture.
    if (!metal && !ior) material.extensions = { KHR_materials_specular: { specularFactor: 0 } };
    if (radiance) {
        const strength = Math.max(...radiance);
        material.emissiveFactor = radiance.map(value => +(value / strength).toFixed(4));
        material.extensions.KHR_materials_emissive_strength = { emissiveStrength: strength };
    }
    if (ior) {
        material.extensions = {
            KHR_materials_transmission: { transmissionFactor: 1 }, KHR_materials_ior: { ior },
            KHR_materials_volume: { thicknessFactor: 1 },
        };
    }
    return material;
}

/// From the camera's coordinates, where it looks along -z, to the world's; column by column. A matrix, as Assimp 5.2
/// applies the translation of a camera's node twice.
function camera_matrix() {
    const unit = v => v.map(value => value / Math.hypot(...v));
    const cross = ([a, b, c], [d, e, f]) => [b * f - c * e, c * d - a * f, a * e - b * d];
    const backward = unit(eye.map((value, k) => value - target[k]));
    const right = unit(cross([0, 1, 0], backward));
    const columns = [[...right, 0], [...cross(backward, right), 0], [...backward, 0], [...eye, 1]];
    return columns.flat();
}

function turned_about_y(degrees) {
    const half = degrees * Math.PI / 360;
    return [0, Math.sin(half), 0, Math.cos(half)];
}

make_floor();
make_walls();
make_ceiling();
make_plinth();
const room_primitives = [...quads].map(([name, list]) => with_material(
    geometry(list.flat(), list.flatMap((_, i) => [0, 1, 2, 0, 2, 3].map(corner => 4 * i + corner))), name));

const { positions: bust_positions, cells: bust_cells } = without_crumbs(scan);
const bust_shape = geometry(bust_positions, bust_cells.flat());
// Its foot is uneven, so it stands 3 mm deep in the plinth.
const lowest = accessors[bust_shape.attributes.POSITION].min[1];

const { positions, indices } = unit_sphere(64);
const sphere_shape = geometry(positions, indices);
const sphere = (name, x, z, radius) => ({ name, mesh: name, translation: [x, radius, z], scale: [radius, radius, radius] });

const meshes = [
    { name: 'room', primitives: room_primitives },
    { name: 'bust', primitives: [with_material(bust_shape, 'plaster')] },
    ...['glass', 'mirror', 'gold'].map(name => ({ name, primitives: [with_material(sphere_shape, name)] })),
];
const nodes = [
    { name: 'room', mesh: 'room' },
    {
        name: 'bust', mesh: 'bust', translation: [bust.x, bust.stands_at - 0.003 - lowest * bust.scale, bust.z],
        rotation: turned_about_y(bust.turned_degrees), scale: [bust.scale, bust.scale, bust.scale],
    },
    sphere('glass', -1.06, 0.3, 0.42),
    sphere('mirror', 1.14, 0, 0.5),
    sphere('gold', 0.46, 0.5, 0.16),
    { name: 'camera', camera: 0, matrix: camera_matrix() },
].map(node => (node.mesh ? { ...node, mesh: meshes.findIndex(mesh => mesh.name === node.mesh) } : node));

const binary = Buffer.concat(chunks);
const gltf = {
    asset: { version: '2.0', generator: 'make_demo.mjs', copyright: 'bust: stackgl contributors, MIT; see README.md' },
    extensionsUsed: ['KHR_materials_emissive_strength', 'KHR_materials_ior', 'KHR_materials_specular',
                     'KHR_materials_transmission', 'KHR_materials_volume'],
    scene: 0,
    scenes: [{ nodes: nodes.map((_, i) => i) }],
    nodes,
    cameras: [{ name: 'camera', type: 'perspective', perspective: {
        yfov: vertical_fov_degrees * Math.PI / 180, aspectRatio: 16 / 9, znear: 0.01 } }],
    meshes,
    materials: used_materials.map(gltf_material),
    accessors,
    bufferViews: views,
    buffers: [{ uri: 'demo.bin', byteLength: binary.length }],
};
writeFileSync(new URL('demo.bin', import.meta.url), binary);
writeFileSync(new URL('demo.gltf', import.meta.url), JSON.stringify(gltf, null, 1) + '\n');

const triangles = nodes.flatMap(node => (node.mesh === undefined ? [] : meshes[node.mesh].primitives))
    .reduce((sum, primitive) => sum + accessors[primitive.indices].count / 3, 0);
console.log(`${triangles} triangles, ${binary.length} bytes`);
console.log(`--camera ${[...eye, ...target, vertical_fov_degrees].join()}`);
