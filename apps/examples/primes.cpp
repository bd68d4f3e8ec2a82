// apps/examples/primes.cpp - how many of the numbers up to 2 SIZE + 2 are primes?
#include "example.hpp"
#include "primes.cl.hpp"
#include "primes.kernels.hpp"

using namespace headrace;

static bool is_prime(std::uint64_t n) {
    for (std::uint64_t divisor = 3; divisor * divisor <= n; divisor += 2)
        if (n % divisor == 0) return false;
    return true;
}

int main(int argc, char** argv) {
    return example::run(argc, argv, 1'000'000, [](std::uint64_t size, Runtime& runtime) {
        Domain<std::uint64_t> primes("primes", {1});
        primes.fill()[0] = 1; // two, which is even
        Job job("primes", size);
        job.accumulates(primes).share_units();
        job.seeds(OddNumbers{}).kernel([&](Task& t) { return CountPrimes{t.sum(primes)}; });
        job.opencl({"primes.cl", std::string(embedded::primes_cl), 1, sizeof(Number), 0},
                   [&](Task& t, OpenClArguments& arguments) { arguments.buffer(t.memory(primes)); });
        const JobHandle run = runtime.submit(job);
        run.wait();
        std::uint64_t expected = 1;
        for (std::uint64_t n = 3; n <= 2 * size + 2; n += 2) expected += is_prime(n) ? 1 : 0;
        std::printf("%zu primes\n%s", primes.gather()[0], run.report().table().c_str());
        return primes.gather()[0] == expected;
    });
}
