// bench/sobel_openmp.cpp - the filter on the processor with OpenMP: rows are divided between the threads.
// Synchronously each frame is read, filtered and written before the next; asynchronously other threads read
// and write meanwhile.
#include "sobel/magnitude.h"
#include "sobel_pipeline.hpp"

#include <algorithm>
#include <vector>

namespace bench {
namespace {

void filter(const sobel::Planes& planes, const std::uint8_t* frame, std::uint8_t* edges) {
    const int lines = static_cast<int>(planes.rows());
#pragma omp parallel for schedule(static)
    for (int line = 0; line < lines; ++line) {
        const sobel::Row row = planes.row(line);
        const std::uint8_t *const here = frame + row.first, *const above = here - row.columns,
                                  *const below = here + row.columns;
        std::uint8_t* __restrict const out = edges + row.first;
        if (!is_inner_row(&row, 1)) {
            std::fill_n(out, row.columns, std::uint8_t{0});
            continue;
        }
        out[0] = out[row.columns - 1] = 0;
#pragma omp simd
        for (int x = 1; x < row.columns - 1; ++x)
            out[x] = sobel::magnitude(
                above[x + 1] + 2 * here[x + 1] + below[x + 1] - above[x - 1] - 2 * here[x - 1] - below[x - 1],
                below[x - 1] + 2 * below[x] + below[x + 1] - above[x - 1] - 2 * above[x] - above[x + 1]);
    }
}

class OpenMpSobel final : public SobelPipeline {
public:
    OpenMpSobel(const sobel::Planes& planes, std::size_t places_in, std::size_t places_out, bool asynchronous)
        : SobelPipeline(planes.bytes(), places_in, places_out, asynchronous),
          planes_(planes),
          in_(places_in, std::vector<std::uint8_t>(planes.bytes())),
          out_(places_out, std::vector<std::uint8_t>(planes.bytes())) {}
    std::uint8_t* frame(std::size_t place) override { return in_[place].data(); }
    const std::uint8_t* edges(std::size_t place) override { return out_[place].data(); }

private:
    void enqueue(std::int64_t, std::size_t from, std::size_t to) override {
        filter(planes_, in_[from].data(), out_[to].data());
    }
    void wait_until_read(std::size_t) override {} // enqueueing returns when it is done
    void wait_until_written(std::size_t) override {}
    void wait_for_all() override {}

    const sobel::Planes planes_;
    std::vector<std::vector<std::uint8_t>> in_, out_;
};

} // namespace

std::unique_ptr<SobelBaseline> sobel_openmp(const sobel::FrameFormat& format, std::size_t places_in,
                                            std::size_t places_out, bool asynchronous) {
    return std::make_unique<OpenMpSobel>(format.planes, places_in, places_out, asynchronous);
}

} // namespace bench
