// persistent/detail/control.h - what the host and every device share in memory: one definition for C++, CUDA,
// HIP and OpenCL C.
//
// Four allocations per engine (docs/engine.md says how they are used):
//   control   one HrControl
//   slots     the rings, `ways` of them for full bundles of each kind, then as many for empty ones:
//             HrTickets[kinds + 1][ways], then HrSlot[kinds + 1][ways][ring_slots]
//   bundles   word[bundles][unit_words][lanes], so that a group moves a bundle in coalesced accesses
//   spill     word[groups], each group's spare bundle; then two halves of `groups` records: HrRecord and its
//             units
// and HrFeed in host memory where a running launch hears the host, HrSegment[HR_FEED_SEGMENTS] where it is
// fed.
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

// HrControl.park: why all groups stop. The first that asks sets it (compare and exchange from HR_RUN).
#define HR_RUN 0u         // nobody asked: the launch ends when pending is 0
#define HR_PARK_BUDGET 1u // a group used up its rounds
#define HR_PARK_POOL 2u   // a group had no room for the spawns of even one lane, and found no empty bundle
#define HR_PARK_FAILED 3u // see HrControl.status; what is held is not saved
#define HR_PARK_HOST 4u   // the host asked, through HrFeed.park
#define HR_PARK_FEED 5u   // all segments are used up, and the host has fed more

// HrControl.status: the first failure.
#define HR_OK 0u
#define HR_SPAWNED_TOO_MANY 1u   // a kernel spawned more units than its kind declares
#define HR_THREW 2u              // host threads only: the exception itself travels by the runner
#define HR_SEEDS_OF_TWO_KINDS 3u // OpenCL C only, where the kind of a seed is a number and no type

// A word that many groups write, alone on its line.
typedef struct HrLine {
    hr_u64 value;
    hr_u64 unused[15];
} HrLine;

// Tickets of one bounded ring: ticket t uses slot t % ring_slots. 64 bits, since 32 wrap in seconds. Who
// finds `full` or `room` above 0 and takes one off it may take a ticket; both are signed, and below 0 for a
// moment where several ask for the last.
typedef struct HrTickets {
    HrLine head; // next to be popped
    HrLine tail; // next to be pushed
    HrLine full; // published, and promised to nobody
    HrLine room; // slots that are empty, and promised to nobody
} HrTickets;

// Slot for ticket t of lap n: turn == t: empty, may be pushed; turn == t + 1: published, may be popped; after
// the pop turn = t + ring_slots, the next lap's "empty".
typedef struct HrSlot {
    hr_u64 turn;
    hr_u64 value; // hr_entry() of a full bundle; in a free ring, the index of an empty one
} HrSlot;

// What the host and a running launch tell each other, in host memory. Each word has one writer at a
// time, the host or the group that tells it; `finished` has many. Seeds that were fed are counted from 0 on,
// whatever their indices: seed number n of the feed is the index n + offset, with the offset of the first
// range whose `upto` is above n.
#define HR_FEED_RANGES 1024u   // that the host has fed and the device has not taken over
#define HR_FEED_SEGMENTS 4096u // that a launch takes over
#define HR_FEED_CLOSED ((hr_u64)1 << 63)

typedef struct HrFeedRange {
    hr_u64 offset;
    hr_u64 upto; // fed with this range and those before; the last range may yet grow
} HrFeedRange;

typedef struct HrFeed {
    // By the host.
    hr_u64 fed;  // seeds, written after the ranges that they are in; HR_FEED_CLOSED: and no more
    hr_u64 park; // not 0: all groups are to stop; both are read at once
    hr_u64 unused[14];
    // By the launch.
    hr_u64 ranges;    // that it has done with: their places may be used again
    hr_u64 consumed;  // seeds that groups have begun with; of a launch that is not fed, those before this one
    hr_u64 completed; // so many seeds were fed, and they and all that sprang from them are completed
    hr_u64 finished;  // the same, by whoever completed the last of them: sooner, or an older figure
    hr_u64 unused_line[12];

    HrFeedRange range[HR_FEED_RANGES]; // range r is at r % HR_FEED_RANGES
} HrFeed;

// Seeds that a launch has taken over at once, in device memory. Like HrControl's own range, which is for
// launches that are not fed.
typedef struct HrSegment {
    hr_u64 cursor; // next unclaimed seed; may run past the end
    hr_u64 end;
    hr_u64 upto; // fed with this segment and those before
    hr_u64 unused;
} HrSegment;

// The launch's end of the feed.
typedef struct HrIntake {
    hr_u64 time; // nanoseconds that a launch may take; written by the host alone

    hr_u64 open;     // not 0: there may be more to come
    hr_u64 segments; // taken over
    hr_u64 current;  // the first that may have seeds left
    // For the group that listens to the host.
    hr_u64 seeds;               // taken over, in all launches
    hr_u64 ranges;              // done with
    hr_u64 offset;              // of the next one
    hr_u64 knows_offset;        // 0: it has not been read yet
    hr_u64 consumed, completed; // as the host was last told
    hr_u64 deadline;            // by the device's clock; 0: no group has listened yet
    hr_u64 unused[5];
} HrIntake;

// Sums over all launches of an engine. Each group counts locally and adds when it leaves.
typedef struct HrCounters {
    hr_u64 units;         // completed, each by a call of the kernel
    hr_u64 spawned;       // by spawn, continuations included; a range counts as what it has indices
    hr_u64 rounds;        // calls of the kernel by a whole group; turns of as many lanes on a host thread
    hr_u64 pushed;        // bundles, to the GIQ
    hr_u64 popped;        // bundles, from the GIQ
    hr_u64 shared;        // of the pushed: because others were hungry
    hr_u64 no_bundle;     // an empty bundle was wanted and there was none
    hr_u64 slot_busy;     // a push found every ring full, and kept what it had
    hr_u64 narrow_rounds; // fewer lanes ran than were active, for want of room: depth-first
    hr_u64 switches;      // lanes' units set aside for a fuller kind
    hr_u64 saved;         // records written when parking
    hr_u64 restored;      // records taken up again
    hr_u64 idle;          // times a group had nothing
    hr_u64 seed_claims;   // ranges of seeds taken
    hr_u64 empty;         // seeds and indices of ranges of which no unit came
    hr_u64 unused;
} HrCounters;

// The control block. A launch begins with what the host says in its own copy, and leaves what became of it
// there; in between it belongs to the groups.
typedef struct HrControl {
    // Written by the host alone.
    hr_u64 seed_end;   // one past the last seed; seeds are indices below 2^63
    hr_u32 groups;     // lane groups that a launch may have
    hr_u32 lanes;      // per group; also units per bundle
    hr_u32 kinds;      // 0: a consumer
    hr_u32 unit_words; // 32-bit words of the largest unit
    hr_u32 liq_units; // room in each kind's LIQ: a power of two; 0 where nothing but continuations is spawned
    hr_u32 bundles;   // in the pool
    hr_u32 ring_slots;  // per ring: a power of two, at least 2; in `ways` rings together, at least `bundles`
    hr_u32 rounds;      // budget of each group in this launch
    hr_u32 seed_chunk;  // most seeds that a group claims at once
    hr_u32 spill_half;  // 0 or 1: records are restored from this half and saved into the other
    hr_u32 ways;        // rings of each kind: a power of two
    hr_u32 enough;      // groups refill when fewer lanes are active; 0: as an OpenCL kernel's source says
    hr_u32 spill_count; // records to restore
    hr_u32 unused[17];

    // Units that exist and are not completed: unclaimed seeds included, unflushed deltas not. A range counts
    // as many as it has indices.
    HrLine pending;
    HrLine seed_cursor; // next unclaimed seed; may run past seed_end
    HrLine restored;    // next record to restore; may run past spill_count
    HrLine saved;       // records saved in the other half

    // One line that working groups read every few rounds.
    hr_u32 park;
    hr_u32 hungry; // groups that have nothing, now
    hr_u32 status;
    hr_u32 unheard; // 1: the host can be heard, and no group is listening to it now
    hr_u32 unused_line[28];

    HrCounters counters;
    HrIntake intake;
} HrControl;

// A parked group's holdings. Units follow: for each kind a block of unit_words rows of hr_record_room()
// words, in which unit i of the kind is column i, oldest first.
typedef struct HrRecord {
    hr_u64 seed_next; // claimed seeds not yet expanded
    hr_u64 seed_end;
    hr_u32 count[HR_MAX_KINDS];
    hr_u32 unused[4];
} HrRecord;

// A full bundle as a ring carries it.
HR_FUNCTION hr_u64 hr_entry(hr_u32 bundle, hr_u32 count) { return (hr_u64)count << 32 | (hr_u64)bundle; }
HR_FUNCTION hr_u32 hr_entry_bundle(hr_u64 entry) { return (hr_u32)entry; }
HR_FUNCTION hr_u32 hr_entry_count(hr_u64 entry) { return (hr_u32)(entry >> 32); }

// The first ring's first slot in `slots`, counted in slots: after all tickets.
HR_FUNCTION hr_u64 hr_slots_at(hr_u32 kinds, hr_u32 ways) {
    return (kinds + 1u) * (hr_u64)ways * (sizeof(HrTickets) / sizeof(HrSlot));
}

// First word of a bundle in `bundles`; word w of unit i is at + w * lanes + i.
HR_FUNCTION hr_u64 hr_bundle_at(hr_u32 bundle, hr_u32 lanes, hr_u32 unit_words) {
    return (hr_u64)bundle * lanes * unit_words;
}

// Units of one kind that a record has room for: a full LIQ and a unit in each lane.
HR_FUNCTION hr_u32 hr_record_room(hr_u32 lanes, hr_u32 liq_units) { return lanes + liq_units; }

// Words of one record, a multiple of 16.
HR_FUNCTION hr_u64 hr_record_words(hr_u32 kinds, hr_u32 unit_words, hr_u32 lanes, hr_u32 liq_units) {
    hr_u64 units = (hr_u64)kinds * unit_words * hr_record_room(lanes, liq_units);
    return (sizeof(HrRecord) / 4u + units + 15u) / 16u * 16u;
}

// First word of the records in `spill`: after the spares, which fill whole lines.
HR_FUNCTION hr_u64 hr_spill_records_at(hr_u32 groups) { return ((hr_u64)groups + 15u) / 16u * 16u; }

#ifndef __OPENCL_C_VERSION__
static_assert(sizeof(HrLine) == 128 && sizeof(HrTickets) == 512 && sizeof(HrSlot) == 16);
static_assert(sizeof(HrCounters) == 128 && sizeof(HrRecord) == 64);
static_assert(offsetof(HrControl, pending) == 128 && offsetof(HrControl, park) == 640);
static_assert(offsetof(HrControl, counters) == 768 && sizeof(HrControl) == 1024);
static_assert(sizeof(HrIntake) == 128 && sizeof(HrSegment) == 32);
static_assert(offsetof(HrFeed, park) == 8 && offsetof(HrFeed, ranges) == 128 &&
              offsetof(HrFeed, range) == 256);
#endif
#endif
