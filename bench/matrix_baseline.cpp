// bench/matrix_baseline.cpp - see matrix_baseline.hpp.
#include "matrix_baseline.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <exception>
#include <iostream>

namespace bench {

int matrix_baseline(int argc, char** argv, const char* about,
                    const std::function<MatrixResult(const MatrixProblem&)>& work) try {
    MatrixProblem problem;
    std::string mode = "async";
    CLI::App app(about);
    app.add_option("--size", problem.size)->check(CLI::Range(1, 32768));
    app.add_option("--steps,--iterations", problem.steps)->check(CLI::PositiveNumber);
    app.add_option("--host-threads", problem.host_threads)->check(CLI::PositiveNumber);
    app.add_option("--mode", mode, "of programs that can do both")->check(CLI::IsMember({"sync", "async"}));
    app.add_option("--device", problem.device, "its number");
    CLI11_PARSE(app, argc, argv);
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
