#include "square.kernels.hpp"
#include <headrace/headrace.hpp>

int main() {
    headrace::Runtime runtime({.devices = "cpu"});
    headrace::Domain<float> in("in", {1000}), out("out", {1000});
    for (float& x : in.fill()) x = 3;
    const auto square =
        headrace::Job("square", in.size()).reads(in).writes(out).kernel([&](headrace::Task& t) {
            return Square{t.read(in), t.write(out)};
        });
    runtime.submit(square).wait();
    return out.gather()[999] == 9 ? 0 : 1;
}
