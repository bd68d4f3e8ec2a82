// persistent/opencl/plan.cl - what the leader of a lane group plans, and what it knows: the state of a
// producer's group between two steps. leader.cl has the steps.

// What the lanes do before some of them run the kernel.
enum {
    HR_FILL,    // take units from the LIQ, from ranges, seeds and a bundle, in this order of lanes
    HR_RESTORE, // restore a record: the newest units of one kind go to lanes, all others to the LIQ
    HR_SHARE,   // copy the oldest units of a kind from the LIQ into a bundle
    HR_SHELVE,  // put the lanes' units into the LIQ, for a fuller kind
    HR_SAVE,    // copy all that the group holds into a record; then the kernel ends
    HR_LEAVE    // nothing; then the kernel ends
};

// Written by the leader, read by all lanes.
typedef struct HrPlan {
    uint act;
    uint kind;   // of the units that are moved
    uint lanes;  // FILL: the lanes to fill; SHELVE, SAVE: the lanes with units to move
    uint chosen; // the lanes that run the kernel when all have acted

    uint from_liq, newest; // FILL: number of units, from this position downwards
#if HEADRACE_RANGES
    // FILL: number of indices, of a kind's newest ranges from this position downwards: all indices of
    // `whole_ranges` ranges, and `range_part` indices of the next range.
    uint from_ranges, range_kind, newest_range, whole_ranges, range_part;
    uint bundle_kind;       // FILL: of the bundle, which may hold ranges
    uint seeds_to_liq;      // FILL: number of seeds, which are ranges
    ulong cut;              // SHARE: the index at which the range is cut; 0: it is not cut
#endif
    ulong first_seed;
    uint from_seeds;
    uint from_bundle; // units for lanes; the rest of the bundle goes to the LIQ, from `place` on
    uint bundle, bundle_units;
    uint place; // position in the LIQ. FILL, SHELVE: to write; SHARE: to read
    __global HrRecord* record;
} HrPlan;

// The stage of the leader when it plans the next step.
enum { HR_AT_REFILL, HR_AT_ROOM, HR_AT_LEAVE };

typedef struct HrProducer {
    HrPlan plan;
    // Lanes add to these after they have run. The leader reads and clears them.
    uint continuing;            // mask
    uint added[HEADRACE_KINDS]; // units after the LIQ's top
    uint failure;               // a status of control.h, or HR_OK
    uint skipped;               // mask: filled lanes with an index that has no unit

    // Used by the leader alone.
    __local uint* liq;
    uint stage;
    uint active; // lanes that have a unit, all of kind `running`
    uint running;
    uint liq_units;
    uint top[HEADRACE_KINDS], bottom[HEADRACE_KINDS];
    uint spare;       // an empty bundle, or HR_NO_BUNDLE
    uint last_popped; // the kind of the last bundle from the GIQ
    uint room_kind;   // the kind that needs room in the LIQ
    bool lacks_bundle;
    bool shares; // the bundle is filled for idle groups
    uint seed_kind;
    bool has_seeded; // seeds went to the LIQ since the lanes ran last
} HrProducer;
HR_LOCAL_FITS(HrProducer);
