// domains/cluster/mpi_module.cpp - see mpi_module.hpp.
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/cluster/mpi_module.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
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

} // namespace

bool was_started_by_mpi() {
    // mpirun within a Slurm job also passes on the variable of the Slurm step that has started its daemons.
    for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
        const char* const value = std::getenv(name);
        if (value == nullptr) continue;
        const std::string_view text = value;
        unsigned ranks = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
        if (error != std::errc{} || end != text.data() + text.size() || ranks == 0)
            throw Error{ErrorKind::invalid_argument,
                        std::string(name) + "='" + value +
                            "' is not a number of processes; start the program with mpirun or srun, or unset "
                            "the variable to run on one machine"};
        return ranks > 1;
    }
    return false;
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
