// Prints a list of reports of jobs that no processor alone gives: with each field, and with what JSON cannot
// say.
#include <headrace/domains/report.hpp>

#include <cstdio>
#include <limits>

int main() {
    headrace::JobReport report;
    report.job = "a \"job\" \\ of\n\x01 \xff";
    report.devices.resize(2);
    report.devices[0].id = "cpu";
    report.devices[0].reserve = "it would delay the end";
    report.devices[1].id = "cuda:0";
    report.devices[1].kind = headrace::DeviceKind::gpu;
    report.devices[1].failure = "it is not there any more";
    report.devices[1].bytes_in = std::numeric_limits<std::uint64_t>::max();
    report.left_out.push_back({"hip", "", "not in this build"});
    for (headrace::Figure* figure : {&report.balance, &report.gpu_over_cpu, &report.energy_joules,
                                     &report.energy_delay_product, &report.devices[1].energy_joules})
        figure->value = 0.5;
    report.ranks.push_back({.rank = 0, .host = "node7", .work = {2, 58}});
    report.seconds = 2;
    report.compare_with({6, 3});
    std::printf("[%s,%s]\n", headrace::JobReport().json().c_str(), report.json().c_str());
}
