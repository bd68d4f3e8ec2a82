// apps/barnes_hut/motion.cpp - see motion.hpp.
#include "motion.hpp"

namespace barnes_hut {

void move_on_host(const Motion& motion) {
    for (uint32_t i = 0; i < motion.count; ++i) motion.move(i);
    Extremes extremes;
    for (uint32_t i = 0; i < motion.count; ++i) extremes = extremes.with(Extremes::of(motion.places[i]));
    *motion.extremes = extremes;
}

} // namespace barnes_hut
