// bench/matrix_baseline.cpp - see matrix_baseline.hpp.
#include "matrix_baseline.hpp"
#include "command_line.hpp"

#include <nlohmann/json.hpp>

#include <exception>
#include <iostream>

namespace bench {

int matrix_baseline(int argc, char** argv, const char* about,
                    const std::function<MatrixResult(const MatrixProblem&)>& work) try {
    MatrixProblem problem;
    std::string mode = "async";
    bench::CommandLine app(about);
    app.add("--size", problem.size).range(1, 32768);
    app.add("--steps,--iterations", problem.steps).positive();
    app.add("--host-threads", problem.host_threads).positive();
    app.add("--mode", mode, "of programs that can do both").one_of({"sync", "async"});
    app.add("--device", problem.device, "its number");
    if (const auto code = app.parse(argc, argv)) return *code;
    problem.asynchronous = mode == "async";

    const MatrixResult result = work(problem);
    const nlohmann::json json{
        {"seconds", result.seconds}, {"checksum", result.checksum}, {"device", result.device}};
    std::cout << json << '\n';
    return 0;
} catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
}

} // namespace bench
