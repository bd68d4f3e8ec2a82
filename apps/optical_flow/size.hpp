// apps/optical_flow/size.hpp - how large frames and flow fields are.
#pragma once
#include "video/size.hpp"

namespace optical_flow {

using video::longest_side;
using video::Size;

} // namespace optical_flow
