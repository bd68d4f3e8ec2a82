#!/usr/bin/env python3
"""Writes snapshots as GADGET's users have them, and broken ones, into the folder that is named: gadget_snapshots.py FOLDER

Body k of a file, types in ascending order, is at (k, k + 0.25, k + 0.5), has the velocity (-k, 1 - k, 2 - k), the mass
0.5 + k and the number 1000 - k. All of these are floats of every precision. Without h5py: exit code 77.
"""
import os
import sys

try:
    import h5py
    import numpy as np
except ImportError as why:
    print(why)
    sys.exit(77)

os.chdir(sys.argv[1])


def snapshot(name, counts, number="f4", ids="u4", mass_table=None, attributes=None, **storage):
    with h5py.File(name, "w") as file:
        header = file.create_group("Header")
        header.attrs["NumPart_ThisFile"] = np.array(counts, "i4")
        if mass_table is not None:
            header.attrs["MassTable"] = np.array(mass_table, "f8")
        for key, value in (attributes or {}).items():
            header.attrs[key] = value
        begin = 0
        for kind, count in enumerate(counts):
            k = np.arange(begin, begin + count, dtype="f8")[:, None]
            begin += count
            if count == 0:
                continue
            group = file.create_group(f"PartType{kind}")
            group.create_dataset("Coordinates", data=(k + [0, 0.25, 0.5]).astype(number), **storage)
            group.create_dataset("Velocities", data=([0, 1, 2] - k).astype(number), **storage)
            if mass_table is None or mass_table[kind] == 0:
                group.create_dataset("Masses", data=(0.5 + k[:, 0]).astype(number), **storage)
            if ids:
                group.create_dataset("ParticleIDs", data=(1000 - k[:, 0]).astype(ids), **storage)


def changed(name, change, **more):
    snapshot(name, [0, 3, 0, 0, 2, 0], **more)
    with h5py.File(name, "r+") as file:
        change(file)


def put(path, data, **storage):
    def change(file):
        del file[path]
        file.create_dataset(path, data=data, **storage)

    return change


def attribute(name, value):
    def change(file):
        file["Header"].attrs[name] = value

    return change


def remove(path):
    def change(file):
        del file[path]

    return change


def link(path, to):
    def change(file):
        del file[path]
        file[path] = to

    return change


# What is read.
usual = {"NumPart_Total": np.array([2, 3, 0, 0, 1, 1], "u4"), "NumFilesPerSnapshot": 1, "Time": 0.25, "BoxSize": 0.0}
snapshot("floats.hdf5", [2, 3, 0, 0, 1, 1], mass_table=[0] * 6, attributes=usual)
snapshot("packed.h5", [0, 70000, 0, 0, 2, 0], ">f8", "i8", attributes={"Time": np.array([0.25])},
         compression="gzip", shuffle=True, fletcher32=True, chunks=True)
snapshot("few.hdf5", [0, 3, 0, 0, 0, 0], "f8", ids=None, attributes={"Time": 0.25})
snapshot("table.hdf5", [0, 1, 0, 0, 0, 2], "f4", "u8", mass_table=[0, 0.5, 0, 0, 0, 0], attributes={"Time": 0.25})
snapshot("noted.hdf5", [2, 0, 0, 0, 0, 0], "f4", "u8", attributes={"Time": 0.25, "BoxSize": 10.0, "Redshift": 0.5})
os.link("floats.hdf5", "signature_alone")

# What is refused: another file, through each of the ways to name one.
changed("external_link.hdf5", link("PartType1", h5py.ExternalLink("floats.hdf5", "/PartType1")))
changed("external_data.hdf5", link("PartType1/Masses", h5py.ExternalLink("floats.hdf5", "/PartType1/Masses")))
changed("external_header.hdf5", link("Header", h5py.ExternalLink("floats.hdf5", "/Header")))
changed("soft_link.hdf5", link("PartType1/Masses", h5py.SoftLink("/PartType4/Masses")))


def external_storage(file):
    del file["PartType1/Masses"]
    file.create_dataset("PartType1/Masses", (3,), "f8", external=[("/etc/passwd", 0, 24)])


def virtual(file):
    del file["PartType1/Masses"]
    layout = h5py.VirtualLayout((3,), "f4")
    layout[:] = h5py.VirtualSource("floats.hdf5", "PartType1/Masses", (3,))
    file.create_virtual_dataset("PartType1/Masses", layout)


changed("external_storage.hdf5", external_storage)
changed("virtual.hdf5", virtual)

# What says something else than it has.
changed("several.hdf5", attribute("NumFilesPerSnapshot", 8))
changed("no_header.hdf5", remove("Header"))
changed("no_counts.hdf5", lambda file: file["Header"].attrs.__delitem__("NumPart_ThisFile"))
changed("negative.hdf5", attribute("NumPart_ThisFile", np.array([0, -3, 0, 0, 2, 0])))
changed("huge.hdf5", attribute("NumPart_ThisFile", np.array([0, 2**40, 0, 0, 2, 0])))
changed("more.hdf5", attribute("NumPart_ThisFile", np.array([0, 4, 0, 0, 2, 0])))
changed("none.hdf5", attribute("NumPart_ThisFile", np.zeros(6, "i4")))
changed("seventh.hdf5", attribute("NumPart_ThisFile", np.array([0, 3, 0, 0, 2, 0, 5])))
changed("words.hdf5", attribute("NumPart_ThisFile", "three"))
changed("time.hdf5", attribute("Time", float("nan")))
changed("no_type.hdf5", remove("PartType4"))
changed("no_masses.hdf5", remove("PartType4/Masses"))
changed("flat.hdf5", put("PartType1/Coordinates", np.zeros(9)))
changed("wide.hdf5", put("PartType1/Velocities", np.zeros((3, 4))))
changed("text.hdf5", put("PartType1/Masses", np.array([b"a", b"b", b"c"])))
changed("group.hdf5", link("PartType1/Masses", h5py.SoftLink("/Header")))
changed("nan.hdf5", put("PartType1/Coordinates", np.array([[0, 0, 0], [1, 1, np.nan], [2, 2, 2]])))
changed("large.hdf5", put("PartType1/Velocities", np.array([[0, 0, 0], [1, 1, 1], [2, 1e101, 2]])))
changed("mass.hdf5", put("PartType4/Masses", np.array([1, -1.0])))
changed("mass_table.hdf5", attribute("MassTable", np.array([0, -2.0, 0, 0, 0, 0])))
changed("ids.hdf5", put("PartType1/ParticleIDs", np.array([1.0, 2.0, 3.5])))
changed("filter.hdf5", put("PartType1/Masses", np.arange(3.0), compression="lzf", chunks=(3,)))


def promised(file):
    """Numbers that are nowhere: 200 million of them would be 6 GB in memory."""
    file["Header"].attrs["NumPart_ThisFile"] = np.array([0, 2 * 10**8, 0, 0, 2, 0])
    for name, shape in (("Coordinates", (2 * 10**8, 3)), ("Velocities", (2 * 10**8, 3)), ("Masses", (2 * 10**8,))):
        del file["PartType1"][name]
        file["PartType1"].create_dataset(name, shape, "f4", chunks=(2**20, *shape[1:]), compression="gzip")


changed("promised.hdf5", promised)
changed("chunk.hdf5", put("PartType1/Masses", np.arange(3.0), chunks=(2**25,), maxshape=(None,)))
whole = open("floats.hdf5", "rb").read()
open("cut.hdf5", "wb").write(whole[: len(whole) * 2 // 3])
open("no.hdf5", "wb").write(b"x,y,z,m\n1,2,3,4\n")
open("empty.hdf5", "wb").close()
os.mkdir("folder.hdf5")
