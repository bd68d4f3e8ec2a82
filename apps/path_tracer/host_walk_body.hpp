// apps/path_tracer/host_walk_body.hpp - the walk of host_walk.cpp, which includes this file once for each set
// of instructions: in a namespace that has `entered` and `look_at`, with PATH_TRACER_TARGET before each
// function. Functions take on the instructions of their caller only if they are inlined, and templates cannot
// say which they are for.
#define PATH_TRACER_WALKS PATH_TRACER_TARGET [[gnu::always_inline]] inline

/// One triangle of a pair, of which SeenTriangle has what the ray sees.
PATH_TRACER_WALKS SeenTriangle part_of(const SeenPair& pair, float of_a, float of_b, float of_c,
                                       float depth_a, float depth_b, float depth_c) {
    SeenTriangle seen;
    seen.of_a = of_a;
    seen.of_b = of_b;
    seen.of_c = of_c;
    seen.least = smaller(smaller(of_a, of_b), of_c);
    seen.most = larger(larger(of_a, of_b), of_c);
    seen.reach = pair.reach; // that of four corners is no less than that of three
    seen.depth_a = depth_a;
    seen.depth_b = depth_b;
    seen.depth_c = depth_c;
    return seen;
}

/// As `meet`, of a triangle that the ray does not pass by for certain.
PATH_TRACER_WALKS Met meet_part(const bool any_hit, SeenTriangle& seen, float error, uint32_t index,
                                Hit& hit) {
    seen.nearest = smaller(smaller(seen.depth_a, seen.depth_b), seen.depth_c);
    seen.farthest = larger(larger(seen.depth_a, seen.depth_b), seen.depth_c);
    seen.error = error;
    const float farthest = hit.distance + hit.doubt;
    if (is_missed(&seen, farthest)) return MET_NO;
    if (!is_met(&seen)) return FLOATS_CANNOT_TELL;
    const Hit met =
        met_at(std::integral_constant<Rounding, ROUNDED_FASTEST>{}, &seen, PATH_TRACER_NONE, index);
    const float earliest = met.distance - met.doubt, latest = met.distance + met.doubt;
    if (latest <= 0 || earliest >= farthest) return MET_NO;
    if (earliest > 0 && latest < hit.distance - hit.doubt) {
        hit = met;
        return MET_YES;
    }
    return !any_hit && index == hit.triangle ? MET_NO : FLOATS_CANNOT_TELL; // other leaves may have it, too
}

/// Looks at both triangles of a pair. True: the walk is over.
PATH_TRACER_WALKS bool meet_pair(const bool any_hit, const TrianglePair& pair, const Sight& sight, Hit& hit,
                                 Waiting& waiting) {
    const SeenPair seen = look_at(pair, sight);
    const auto [ab, bc, cd, da] = seen.edges;
    const auto [a, b, c, d] = seen.depths;
    SeenTriangle parts[2] = {part_of(seen, bc, seen.ca, ab, a, b, c),
                             part_of(seen, cd, da, -seen.ca, a, c, d)};
    const bool passes[2] = {is_passed_by(&parts[0], PATH_TRACER_SIGHT_ERROR),
                            pair.second == PATH_TRACER_NO_TRIANGLE ||
                                is_passed_by(&parts[1], PATH_TRACER_SIGHT_ERROR)};
    if (passes[0] && passes[1]) return false;
    const float far = larger(larger(fabs(a), fabs(b)), larger(fabs(c), fabs(d))) + seen.reach;
    const float error = smaller(PATH_TRACER_SIGHT_ERROR, PATH_TRACER_SIGHT_ERROR_AT(far));
    const uint32_t indices[2] = {pair.first, pair.second}, ids[2] = {pair.first_id, pair.second_id};
    for (unsigned part = 0; part < 2; ++part) {
        if (passes[part] || ids[part] == sight.ray.left_id || (any_hit && ids[part] == sight.ray.goal_id))
            continue;
        const Met met = meet_part(any_hit, parts[part], error, indices[part], hit);
        if (any_hit && met == MET_YES) return true;
        if (met != FLOATS_CANNOT_TELL) continue;
        if (waiting.count >= PATH_TRACER_MOST_DOUBTS) {
            waiting.count = PATH_TRACER_MOST_DOUBTS + 1;
            return true;
        }
        waiting.instances[waiting.count] = PATH_TRACER_NONE;
        waiting.triangles[waiting.count++] = indices[part];
    }
    return false;
}

/// From node to node, the nearest first. What is farther away than the hit so far is left out.
PATH_TRACER_WALKS Hit walk_with(const bool any_hit, const SceneView& scene, const Sight& sight, float limit,
                                Waiting& waiting) {
    const WideNode* const nodes = scene.host_tree->nodes.data();
    const TrianglePair* const pairs = scene.host_tree->pairs.data();
    const WalkingRay ray(sight);
    Hit hit = no_hit(limit);
    std::array<Ahead, (wide_slots - 1) * PATH_TRACER_STACK + 1> stack;
    std::size_t on_stack = 0;
    uint32_t at = 0; // the root
    for (;;) {
        const WideNode& node = nodes[at];
        alignas(32) float enters[wide_slots];
        const uint32_t slots = entered(node, ray, hit.distance + hit.doubt, enters);
        // What comes next is on its way from memory while the ray meets the pairs here.
        if ((slots & node.leaves) != 0) fetch_ahead(&pairs[node.first_pair]);
        const std::size_t before = on_stack;
        for (uint32_t inner = slots & node.inner; inner != 0; inner &= inner - 1) {
            const uint32_t below = (inner & -inner) - 1;
            const auto child = node.first_child + static_cast<uint32_t>(std::popcount(node.inner & below));
            const Ahead ahead{enters[std::countr_zero(inner)], child};
            std::size_t place = on_stack++; // of the new ones, the nearest is the last
            for (; place > before && stack[place - 1].distance < ahead.distance; --place)
                stack[place] = stack[place - 1];
            stack[place] = ahead;
        }
        if (on_stack != 0) fetch_ahead(&nodes[stack[on_stack - 1].node]);
        for (uint32_t leaves = slots & node.leaves; leaves != 0; leaves &= leaves - 1) {
            const uint32_t below = (leaves & -leaves) - 1;
            const auto place = node.first_pair + static_cast<uint32_t>(std::popcount(node.leaves & below));
            if (meet_pair(any_hit, pairs[place], sight, hit, waiting)) return hit;
        }
        do {
            if (on_stack == 0) return hit;
            --on_stack;
        } while (stack[on_stack].distance > (hit.distance + hit.doubt) * PATH_TRACER_BOX_SLACK);
        at = stack[on_stack].node;
    }
}

PATH_TRACER_TARGET Hit walk(bool any_hit, const SceneView& scene, const Sight& sight, float limit,
                            Waiting& waiting) {
    return any_hit ? walk_with(true, scene, sight, limit, waiting)
                   : walk_with(false, scene, sight, limit, waiting);
}

#undef PATH_TRACER_WALKS
