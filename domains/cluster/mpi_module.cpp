// domains/cluster/mpi_module.cpp - see mpi_module.hpp.
#include <headrace/core/error.hpp>
#include <headrace/domains/cluster/session.hpp>
#include <headrace/internal/domains/cluster/mpi_module.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <dlfcn.h>

namespace headrace::cluster {
namespace {

#ifdef HEADRACE_MPI_MODULE
std::vector<std::filesystem::path> candidates(std::string_view name) {
    namespace fs = std::filesystem;
    std::vector<fs::path> found;
    const auto add = [&](const fs::path& folder) {
        fs::path file = (folder / name).lexically_normal();
        if (std::ranges::find(found, file) == found.end()) found.push_back(std::move(file));
    };
    Dl_info own{}; // of the library with this code: a shared one, or the program itself
    std::error_code error;
    if (dladdr(reinterpret_cast<const void*>(&load_mpi_transport), &own) != 0 && own.dli_fname != nullptr)
        if (const fs::path file = fs::canonical(own.dli_fname, error); !error) add(file.parent_path());
    if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error) {
        add(program.parent_path());
        add(program.parent_path() / HEADRACE_LIBRARIES_FROM_PROGRAMS);
    }
    add(HEADRACE_LIBRARIES);       // where the project is installed, unless --prefix has named another folder
    add(HEADRACE_BUILD_LIBRARIES); // last: an installed program prefers what is installed
    return found;
}
#endif

/// The variables that a launcher sets for each process that it starts.
struct Launcher {
    const char *size, *rank;
};

/// mpirun within a Slurm job also passes on the variables of the Slurm step that has started its daemons. So
/// those of mpirun are first.
constexpr std::array launchers{Launcher{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                               Launcher{"PMI_SIZE", "PMI_RANK"},
                               Launcher{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

const Launcher* launcher_of_this_process() {
    const auto* const found =
        std::ranges::find_if(launchers, [](const Launcher& one) { return std::getenv(one.size) != nullptr; });
    return found == launchers.end() ? nullptr : found;
}

/// Nothing if the variable is not set, or is no whole number of at least 0.
std::optional<int> number_in(const char* variable) {
    const char* const value = std::getenv(variable);
    const std::string_view text = value == nullptr ? "" : value;
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty() || number < 0 ||
        text.front() == '-')
        return std::nullopt;
    return number;
}

} // namespace

bool was_started_by_mpi() {
    const Launcher* const launcher = launcher_of_this_process();
    if (launcher == nullptr) return false;
    const auto ranks = number_in(launcher->size);
    if (!ranks || *ranks == 0)
        throw Error{ErrorKind::invalid_argument,
                    std::string(launcher->size) + "='" + std::getenv(launcher->size) +
                        "' is not a number of processes; start the program with mpirun or srun, or unset "
                        "the variable to run on one machine"};
    return *ranks > 1;
}

int rank_by_environment() {
    if (!was_started_by_mpi()) return 0;
    const Launcher& launcher = *launcher_of_this_process();
    if (const auto rank = number_in(launcher.rank)) return *rank;
    throw Error{ErrorKind::invalid_argument,
                std::string(launcher.size) + " is set, and " + launcher.rank +
                    " is missing or not a number; start the program with mpirun or srun, or unset both"};
}

std::filesystem::path find_mpi_module(std::span<const std::filesystem::path> candidates) {
    std::string looked_for;
    for (const std::filesystem::path& candidate : candidates) {
        std::error_code error;
        if (std::filesystem::exists(candidate, error)) return candidate;
        looked_for += (looked_for.empty() ? "" : ", ") + candidate.string();
    }
    throw Error{ErrorKind::not_found,
                "the MPI module of Headrace is missing; it was looked for as " + looked_for +
                    "; build it with -DHEADRACE_MPI=ON and copy it to one of these places"};
}

std::unique_ptr<Transport> load_mpi_transport([[maybe_unused]] const MpiOptions& options) {
#ifdef HEADRACE_MPI_MODULE
    const std::filesystem::path file = find_mpi_module(candidates(HEADRACE_MPI_MODULE));
    void* const module =
        dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); // never closed: MPI's threads run its code
    if (module == nullptr)
        throw Error{ErrorKind::not_found, std::string("the MPI module of Headrace cannot be loaded: ") +
                                              dlerror() + "; install the MPI library that it was built with"};
    auto* const open = reinterpret_cast<OpenMpiTransport*>(dlsym(module, mpi_module_function));
    if (open == nullptr)
        throw Error{ErrorKind::not_found, file.string() + " is not the MPI module of Headrace: " + dlerror()};
    return std::unique_ptr<Transport>(open(options));
#else
    throw Error{ErrorKind::unsupported,
                "this build of Headrace has no MPI, so it runs on one machine only; build it with "
                "-DHEADRACE_MPI=ON"};
#endif
}

} // namespace headrace::cluster
