// persistent/detail/control.h - what the host and every device share in memory: one definition for C++, CUDA,
// HIP and OpenCL C.
//
// Four allocations per engine (docs/engine.md says how they are used):
//   control   one HrControl
//   slots     the rings: `ways` rings of full bundles for each kind, then `ways` rings of empty bundles:
//             HrTickets[kinds + 1][ways], then HrSlot[kinds + 1][ways][ring_slots]
//   bundles   word[bundles][unit_words][lanes], so that a group moves a bundle in coalesced accesses
//   spill     word[groups], each group's spare bundle; then two halves of `groups` records: HrRecord and its
//             units; then each group's inbox, if the kernel has one
// HrInjection in host memory exists if a running launch can see the host's words.
// HrSegment[HR_INJECTION_SEGMENTS] in device memory exists if seeds are injected.
#ifndef HEADRACE_PERSISTENT_CONTROL_H
#define HEADRACE_PERSISTENT_CONTROL_H

#ifdef __OPENCL_C_VERSION__
typedef uint hr_u32;
typedef ulong hr_u64;
    #define HR_FUNCTION static inline
#else
    #include <headrace/persistent/kernel.hpp>

    #include <cstddef>
    #include <cstdint>
typedef std::uint32_t hr_u32;
typedef std::uint64_t hr_u64;
    #define HR_FUNCTION HEADRACE_HOST_DEVICE inline
#endif

#define HR_MAX_KINDS 8u
#define HR_MAX_WAYS 8u
#define HR_NO_BUNDLE 0xffffffffu

// HrControl.pause: why all groups pause. The first group that asks sets it (compare-exchange from HR_RUN).
#define HR_RUN 0u            // no group asked: the launch ends when pending is 0
#define HR_PAUSE_BUDGET 1u   // a group used up its rounds, or the launch its time
#define HR_PAUSE_POOL 2u     // a group had no room for the spawns of even one lane, and found no empty bundle
#define HR_PAUSE_FAILED 3u   // see HrControl.status; what groups hold is not saved
#define HR_PAUSE_HOST 4u     // the host asked, through HrInjection.pause
#define HR_PAUSE_SEGMENTS 5u // all segments are used up, and the host has injected more

// HrControl.status: the first failure.
#define HR_OK 0u
#define HR_SPAWNED_TOO_MANY 1u   // a kernel spawned more units than its kind declares
#define HR_THREW 2u              // host threads only: the runner rethrows the exception
#define HR_SEEDS_OF_TWO_KINDS 3u // OpenCL C only: the kind of a seed is a number there, not a type
#define HR_NO_SUCH_PHASE 4u      // a step of a resumable kind returned a phase that there is not

// A word that many groups write, alone on its cache line.
typedef struct HrLine {
    hr_u64 value;
    hr_u64 unused[15];
} HrLine;

// Tickets of one bounded ring: ticket t uses slot t % ring_slots. They have 64 bits, since 32 bits wrap in
// seconds. A lane that takes one off `full` or `room` may take a ticket if the count was above 0. Both counts
// are signed. They are below 0 for a moment if several lanes ask for the last one.
typedef struct HrTickets {
    HrLine head; // next to be popped
    HrLine tail; // next to be pushed
    HrLine full; // published, and not promised to a lane
    HrLine room; // slots that are empty, and not promised to a lane
} HrTickets;

// The slot of ticket t. turn == t: empty, may be pushed. turn == t + 1: published, may be popped. A pop sets
// turn = t + ring_slots, which means empty in the next lap.
typedef struct HrSlot {
    hr_u64 turn;
    hr_u64 value; // hr_entry() of a full bundle; in a ring of empty bundles, the index of one
} HrSlot;

// What the host and a running launch tell each other, in host memory. Each word has one
// writer at a time: the host, or the injection poller; `finished` has many. Injected
// seeds are counted from 0, whatever their indices. Injected seed number n has the
// index n + offset, with the offset of the first range that has an `upto` above n.
#define HR_INJECTION_RANGES 1024u   // ranges that the host has injected and the launch has not accepted
#define HR_INJECTION_SEGMENTS 4096u // segments that a launch accepts
#define HR_INJECTION_CLOSED ((hr_u64)1 << 63)

typedef struct HrInjectionRange {
    hr_u64 offset;
    hr_u64 upto; // number of seeds up to the end of this range; the last range may still grow
} HrInjectionRange;

typedef struct HrInjection {
    // Written by the host.
    hr_u64 injected; // injected seeds, written after their ranges; HR_INJECTION_CLOSED: no more will follow
    hr_u64 pause;    // not 0: all groups should pause; one load reads both words
    hr_u64 unused[14];
    // Written by the launch.
    hr_u64 ranges;    // ranges that it has finished: their slots may be reused
    hr_u64 consumed;  // seeds that groups have begun; without injection, the first unclaimed seed
    hr_u64 completed; // seeds that are completed, in order, with all units spawned from them
    hr_u64 finished; // the same, by the group that completed the last unit; ahead of `completed` or behind it
    hr_u64 unused_line[12];

    HrInjectionRange range[HR_INJECTION_RANGES]; // range r is at r % HR_INJECTION_RANGES
} HrInjection;

// Seeds that a launch has accepted together, in device memory. Launches
// that were not opened use the seed range of HrControl instead.
typedef struct HrSegment {
    hr_u64 cursor; // next unclaimed seed; may run past the end
    hr_u64 end;
    hr_u64 upto; // number of seeds up to the end of this segment
    hr_u64 unused;
} HrSegment;

// The launch's end of the injection queue.
typedef struct HrPoller {
    hr_u64 time; // nanoseconds that a launch may take; written by the host alone

    hr_u64 open;     // not 0: more seeds may be injected
    hr_u64 segments; // accepted segments
    hr_u64 current;  // the first segment that may have seeds left
    // For the injection poller.
    hr_u64 seeds;               // accepted seeds, in all launches
    hr_u64 ranges;              // finished ranges
    hr_u64 offset;              // of the next range
    hr_u64 knows_offset;        // 0: `offset` is not read yet
    hr_u64 consumed, completed; // as the host was last told
    hr_u64 deadline;            // by the device's clock; 0: no group has polled yet
    hr_u64 unused[5];
} HrPoller;

// Sums over all launches of an engine. Each group counts locally and adds when it leaves.
typedef struct HrCounters {
    hr_u64 units;         // completed, each by a call of the kernel
    hr_u64 spawned;       // by spawn, with continuations; a range counts as many units as it has indices
    hr_u64 rounds;        // calls of the kernel by a whole group; on a host thread, turns of lanes / `lanes`
    hr_u64 pushed;        // bundles, to the GIQ
    hr_u64 popped;        // bundles, from the GIQ
    hr_u64 shared;        // pushed because other groups were idle
    hr_u64 no_bundle;     // an empty bundle was wanted and there was none
    hr_u64 slot_busy;     // a push found every ring full and failed
    hr_u64 narrow_rounds; // fewer lanes ran than were active, because room was short: depth-first
    hr_u64 switches;      // lanes' units moved to the LIQ for a fuller kind
    hr_u64 saved;         // records written at pauses
    hr_u64 restored;      // records restored
    hr_u64 idle;          // times that a group became idle
    hr_u64 seed_claims;   // ranges of seeds taken
    hr_u64 empty;         // seeds and indices of ranges without a unit
    hr_u64 unused;
} HrCounters;

// The control block. The host writes its copy before a launch and reads it after the launch. During the
// launch the block belongs to the groups.
typedef struct HrControl {
    // Written by the host alone.
    hr_u64 seed_end;   // one past the last seed; seeds are indices below 2^63
    hr_u32 groups;     // lane groups that a launch may have
    hr_u32 lanes;      // lanes per group; also units per bundle
    hr_u32 kinds;      // 0: a consumer
    hr_u32 unit_words; // 32-bit words of the largest unit
    hr_u32 liq_units; // room in each kind's LIQ: a power of two; 0 if kernels spawn nothing but continuations
    hr_u32 bundles;   // in the pool
    hr_u32 ring_slots;  // per ring: a power of two, at least 2; in `ways` rings together, at least `bundles`
    hr_u32 rounds;      // budget of each group in this launch
    hr_u32 seed_chunk;  // most seeds that a group claims at once
    hr_u32 spill_half;  // 0 or 1: records are restored from this half and saved into the other
    hr_u32 ways;        // rings of each kind: a power of two
    hr_u32 enough;      // groups refill when fewer lanes are active; 0: as an OpenCL kernel's source says
    hr_u32 spill_count; // records to restore
    hr_u32 inbox_units; // that a group's inbox has room for: see inbox.hpp
    hr_u32 unused[16];

    // Units that exist and are not completed, with unclaimed seeds, without deltas that groups have not
    // added. A range counts as many units as it has indices.
    HrLine pending;
    HrLine seed_cursor; // next unclaimed seed; may run past seed_end
    HrLine restored;    // next record to restore; may run past spill_count
    HrLine saved;       // records saved in the other half

    // One cache line that working groups read every few rounds.
    hr_u32 pause;
    hr_u32 idle_groups; // idle groups, now
    hr_u32 status;
    hr_u32 unused_word;
    // The time [ns] from which a group at work may read the host's words; idle groups may at any time. 0: a
    // group is the injection poller now, or there are no such words.
    hr_u64 unpolled;
    hr_u32 unused_line[26];

    HrCounters counters;
    HrPoller poller;
} HrControl;

// What a paused group held. Its units follow: for each kind a block of unit_words rows of hr_record_room()
// words. Unit i of the kind is column i, oldest first.
typedef struct HrRecord {
    hr_u64 seed_next; // claimed seeds not yet expanded
    hr_u64 seed_end;
    hr_u32 count[HR_MAX_KINDS];
    hr_u32 unused[4];
} HrRecord;

// A full bundle as a ring stores it.
HR_FUNCTION hr_u64 hr_entry(hr_u32 bundle, hr_u32 count) { return (hr_u64)count << 32 | (hr_u64)bundle; }
HR_FUNCTION hr_u32 hr_entry_bundle(hr_u64 entry) { return (hr_u32)entry; }
HR_FUNCTION hr_u32 hr_entry_count(hr_u64 entry) { return (hr_u32)(entry >> 32); }

// The first ring's first slot in `slots`, counted in slots. All tickets come before it.
HR_FUNCTION hr_u64 hr_slots_at(hr_u32 kinds, hr_u32 ways) {
    return (kinds + 1u) * (hr_u64)ways * (sizeof(HrTickets) / sizeof(HrSlot));
}

// First word of a bundle in `bundles`. Word w of unit i is w * lanes + i words further on.
HR_FUNCTION hr_u64 hr_bundle_at(hr_u32 bundle, hr_u32 lanes, hr_u32 unit_words) {
    return (hr_u64)bundle * lanes * unit_words;
}

// Units of one kind that a record has room for: a full LIQ, a full inbox, and a unit in each lane.
HR_FUNCTION hr_u32 hr_record_room(hr_u32 lanes, hr_u32 liq_units, hr_u32 inbox_units) {
    return lanes + liq_units + inbox_units;
}

// Words of one record, a multiple of 16.
HR_FUNCTION hr_u64 hr_record_words(hr_u32 kinds, hr_u32 unit_words, hr_u32 lanes, hr_u32 liq_units,
                                   hr_u32 inbox_units) {
    hr_u64 units = (hr_u64)kinds * unit_words * hr_record_room(lanes, liq_units, inbox_units);
    return (sizeof(HrRecord) / 4u + units + 15u) / 16u * 16u;
}

// First word of the records in `spill`: they follow the spares, which fill whole lines.
HR_FUNCTION hr_u64 hr_spill_records_at(hr_u32 groups) { return ((hr_u64)groups + 15u) / 16u * 16u; }

// First word of the inboxes in `spill`, where each record has so many words.
HR_FUNCTION hr_u64 hr_spill_inboxes_at(hr_u32 groups, hr_u64 record_words) {
    return hr_spill_records_at(groups) + (hr_u64)2u * groups * record_words;
}

#ifndef __OPENCL_C_VERSION__
static_assert(sizeof(HrLine) == 128 && sizeof(HrTickets) == 512 && sizeof(HrSlot) == 16);
static_assert(sizeof(HrCounters) == 128 && sizeof(HrRecord) == 64);
static_assert(offsetof(HrControl, pending) == 128 && offsetof(HrControl, pause) == 640);
static_assert(offsetof(HrControl, counters) == 768 && sizeof(HrControl) == 1024);
static_assert(sizeof(HrPoller) == 128 && sizeof(HrSegment) == 32);
static_assert(offsetof(HrInjection, pause) == 8 && offsetof(HrInjection, ranges) == 128 &&
              offsetof(HrInjection, range) == 256);
#endif
#endif
