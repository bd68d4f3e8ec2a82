// domains/cluster/meeting.hpp - what ranks tell each other first. Internal to domains/.
#pragma once
#include <string>
#include <vector>

namespace headrace::cluster {

class Node;

/// The name of this machine.
[[nodiscard]] std::string host_name();

/// The hosts of all ranks. All ranks call it at the same time. Blocks. Throws invalid_argument if they do not
/// run the same program, and unsupported if they have other versions.
[[nodiscard]] std::vector<std::string> meet_ranks(Node& node);

} // namespace headrace::cluster
