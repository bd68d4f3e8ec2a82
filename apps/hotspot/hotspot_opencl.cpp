// apps/hotspot/hotspot_opencl.cpp - see hotspot_opencl.hpp.
#include "hotspot_opencl.hpp"
#include <headrace/domains/grids/opencl/opencl_grid.hpp>

#include "hotspot.cl.hpp"

#include <array>
#include <span>

namespace hotspot {

using namespace headrace;

namespace {

void add_for_processors(Implementations<Hotspot>& all) {
    OpenClGridKernel kernel("HotspotOnProcessor", "hotspot.cl", embedded::hotspot_cl, grid(1, 1));
    all.add({"opencl", "cpu"}, [kernel = std::move(kernel)](const Hotspot& k, const AnyGrid& cells,
                                                            MembersOf<Hotspot> members,
                                                            const NativeStream& stream) {
        const int first = static_cast<int>(cells.first), last = static_cast<int>(cells.end[0]);
        const std::array<int, 3> numbers{first, last, k.before.columns()};
        KernelMembers arguments = members(k);
        for (const int& number : numbers) arguments.push_back(std::as_bytes(std::span(&number, 1)));
        const auto items = [](int size, int item) { return (size + item - 1) / item; };
        kernel.enqueue(grid(items(last - first, block_rows), items(k.before.columns(), block_columns)),
                       arguments, stream);
    });
}

} // namespace

const Implementations<Hotspot>& all_implementations() {
    static const Implementations<Hotspot> all = [] {
        Implementations<Hotspot> found = implementations<Hotspot>();
        add_for_processors(found);
        return found;
    }();
    return all;
}

} // namespace hotspot
