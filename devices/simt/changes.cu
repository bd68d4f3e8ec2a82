// devices/simt/changes.cu - see changes.hpp. HIP's compiler compiles it, too.
#include "simt/changes.hpp"
#include "simt/launch_size.hpp"

namespace headrace::HEADRACE_ON_SIMT {
namespace {

template <class Word>
__device__ bool differ(const Word* a, const Word* b, std::size_t words) {
    for (std::size_t i = 0; i < words; ++i)
        if (a[i] != b[i]) return true;
    return false;
}

/// A thread takes whole elements, of so many words each.
template <class Word>
__global__ void take_changes(ChangedRange range, std::size_t words, unsigned long long* conflict) {
    const std::size_t all = std::size_t{gridDim.x} * block;
    for (std::size_t i = std::size_t{blockIdx.x} * block + threadIdx.x; i < range.elements; i += all) {
        const Word* const from = static_cast<const Word*>(range.from) + i * words;
        const Word* const before = static_cast<const Word*>(range.before) + i * words;
        if (!differ(from, before, words)) continue;
        Word* const to = static_cast<Word*>(range.to) + i * words;
        if (differ<Word>(to, before, words) && differ<Word>(to, from, words))
            atomicMin(conflict, static_cast<unsigned long long>(range.first + i));
        for (std::size_t word = 0; word < words; ++word) to[word] = from[word];
    }
}

template <class Word>
void enqueue(StreamHandle stream, const ChangedRange& range, std::uint64_t* conflict) {
    if (range.elements == 0) return;
    take_changes<Word><<<blocks_for(range.elements), block, 0, stream>>>(
        range, range.element / sizeof(Word), reinterpret_cast<unsigned long long*>(conflict));
}

} // namespace

void enqueue_take_changes(StreamHandle stream, const ChangedRange& range, std::uint64_t* conflict) {
    if (range.element % 8 == 0) return enqueue<std::uint64_t>(stream, range, conflict);
    if (range.element % 4 == 0) return enqueue<std::uint32_t>(stream, range, conflict);
    if (range.element % 2 == 0) return enqueue<std::uint16_t>(stream, range, conflict);
    enqueue<std::uint8_t>(stream, range, conflict);
}

} // namespace headrace::HEADRACE_ON_SIMT
