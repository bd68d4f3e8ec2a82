#include "halve.kernels.hpp"
#include "same_names.hpp"
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
    if (out.gather()[999] != 9) return 1;

    const auto there = headrace::select_devices("cpu");
    headrace::Controller controller(*there.devices.front());
    headrace::Array<float> all("all", {1000});
    for (float& x : all.fill()) x = 8;
    launch<Halve>(controller, headrace::grid(1000), all);
    if (all.gather()[999] != 4) return 1;

    // What the library throws is caught, also where it is a shared one and this is compiled without RTTI.
    try {
        static_cast<void>(headrace::select_devices("no such device"));
        return 1;
    } catch (const headrace::Error& error) {
        if (!error.is_users_mistake()) return 1;
    }
    return same_names_are_told_apart() ? 0 : 1;
}
