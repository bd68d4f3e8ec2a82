// tests/end_to_end/mutation.hpp - files that are nearly right: what disks, networks and scripts make of good
// ones.
#pragma once
#include <cstdint>
#include <random>
#include <string>

namespace headrace::end_to_end {

/// `seed` with one to four changes: bits turned round, bytes and words of other values, parts that are cut
/// off, missing, there twice or from elsewhere in the file, and numbers in its text that are huge, tiny or
/// none.
[[nodiscard]] std::string mutated(const std::string& seed, std::mt19937_64& random);

/// True if no number in a result is NaN or infinite: in text, .npy and .flo of floats and doubles, and .pfm.
[[nodiscard]] bool is_finite(const std::string& file_name, const std::string& bytes);

} // namespace headrace::end_to_end
