// tests/domains/joining.kernels.hpp - kernels that reduce, add exactly and append. For all technologies;
// joining.cl is the same in OpenCL C.
#pragma once
#include "values.kernels.hpp"

#include <headrace/domains/append.hpp>
#include <headrace/domains/exact_sum.hpp>
#include <headrace/domains/reduction.hpp>
#include <headrace/domains/view.hpp>

#include <cstdint>

namespace headrace::test {

/// Unit i has word i, and belongs to one cell of each domain.
struct ReduceWords {
    View<const std::uint64_t> words;
    Reduction<float, Min> least;
    Reduction<double, Max> greatest;
    Reduction<std::uint32_t, BitAnd> all;
    Reduction<std::uint64_t, BitOr> any;
    Reduction<std::uint64_t, BitXor> odd;
    Reduction<Hit, Nearest> nearest;

    HEADRACE_HOST_DEVICE static std::uint32_t but_one(std::uint64_t word) { return ~(1u << word % 23); }
    HEADRACE_HOST_DEVICE static std::uint64_t one(std::uint64_t word) {
        return std::uint64_t{1} << word % 61;
    }

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const std::uint64_t word = words[i], cell = i % least.size();
        least.combine(cell, compared<float>(word));
        greatest.combine(cell, compared<double>(word));
        all.combine(cell, but_one(word));
        any.combine(cell, one(word));
        odd.combine(cell, word);
        nearest.combine(cell, Values::hit(word));
    }
};

/// By one operation.
template <class Op>
struct ReduceInto {
    View<const std::uint64_t> words;
    Reduction<std::uint64_t, Op> x;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { x.combine(i % x.size(), words[i]); }
};

/// A term of each word.
struct AddExactly {
    View<const std::uint64_t> words;
    Sum<ExactSum<double>> full;
    Sum<ExactSum<float>> floats;
    Sum<ExactSum<double, ValueTable::DeclaredRange>> declared;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const std::uint64_t word = words[i], cell = i % full.size();
        full.add(cell, term<double>(i, word));
        floats.add(cell, term<float>(i, word));
        declared.add(cell, declared_term<double>(word));
    }
};

/// Twelve bytes: no size that a machine writes at once.
struct Record {
    std::uint32_t unit, number, part;
    bool operator==(const Record&) const = default;
};

/// Up to six records for each unit.
struct AppendSome {
    View<const std::uint64_t> words;
    Append<Record> records;

    HEADRACE_HOST_DEVICE static std::uint32_t count(std::uint64_t word) {
        return static_cast<std::uint32_t>(word % 7);
    }
    HEADRACE_HOST_DEVICE static Record record(std::uint64_t i, std::uint64_t word, std::uint32_t number) {
        return {static_cast<std::uint32_t>(i), number, static_cast<std::uint32_t>(word >> 32)};
    }

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        for (std::uint32_t number = 0; number < count(words[i]); ++number)
            records.append(record(i, words[i], number));
    }
};

/// One level of a search through a graph in which vertex v has the neighbours 2v + 1 and 3v + 2.
struct Level {
    View<const std::uint32_t> frontier;
    std::uint64_t frontier_count; ///< that a kernel was told, which must be the number of units
    std::uint64_t units;
    Append<std::uint32_t> next;
    std::uint32_t vertices;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        if (frontier_count != units) return;
        for (const std::uint32_t neighbour : {2 * frontier[i] + 1, 3 * frontier[i] + 2})
            if (neighbour < vertices) next.append(neighbour);
    }
};

/// Reads records that others have appended.
struct SumRecords {
    View<const Record> records;
    Sum<std::uint64_t> sums;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        sums.add(0, records[i].unit);
        sums.add(1, records[i].number);
        sums.add(2, records[i].part);
    }
};

struct CopyRecords {
    View<const Record> from;
    Append<Record> to;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { to.append(from[i]); }
};

/// A full binary tree below every seed; nodes reduce and add, leaves are appended and scattered. Path 1 is a
/// root; p has 2p and 2p + 1 below it.
struct Sprout {
    std::uint32_t seed, path;
    bool operator==(const Sprout&) const = default;
};
struct Grove {
    using Units = Kinds<Kind<Sprout, 2>>;
    Reduction<std::uint64_t, Max> greatest;
    Sum<ExactSum<double>> sums;
    Append<Sprout> leaves;
    Scatter<std::uint32_t> paths; ///< of leaves, seed by seed
    std::uint32_t depth;

    HEADRACE_HOST_DEVICE static std::uint64_t word(Sprout sprout) {
        return word_of(std::uint64_t{sprout.seed} << 32 | sprout.path);
    }

    HEADRACE_KERNEL void operator()(auto& lane, Sprout sprout) const {
        greatest.combine(sprout.seed % greatest.size(), word(sprout));
        sums.add(sprout.seed % sums.size(), term<double>(1, word(sprout)));
        if (sprout.path >> depth != 0) {
            paths[(std::uint64_t{sprout.seed} << depth) + sprout.path - (1u << depth)] = sprout.path;
            return leaves.append(sprout);
        }
        lane.spawn(Sprout{sprout.seed, 2 * sprout.path});
        lane.spawn(Sprout{sprout.seed, 2 * sprout.path + 1});
    }
};
struct Seedlings {
    HEADRACE_KERNEL Sprout operator()(std::uint64_t index) const {
        return Sprout{static_cast<std::uint32_t>(index), 1};
    }
};

} // namespace headrace::test
