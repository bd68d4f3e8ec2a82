// bench/starpu/codelets.hpp - what the workloads share: vectors of StarPU, codelets with an OpenCL program.
#pragma once
#include <starpu.h>
#include <starpu_opencl.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// Registered data of a workload, unregistered with it.
class StarPuVectors {
public:
    StarPuVectors() = default;
    ~StarPuVectors() {
        for (const starpu_data_handle_t handle : handles_) starpu_data_unregister(handle);
    }
    StarPuVectors(const StarPuVectors&) = delete; // unregisters once
    StarPuVectors& operator=(const StarPuVectors&) = delete;

    template <class T>
    starpu_data_handle_t add(std::span<T> elements) {
        starpu_data_handle_t handle = nullptr;
        starpu_vector_data_register(&handle, STARPU_MAIN_RAM,
                                    reinterpret_cast<std::uintptr_t>(elements.data()),
                                    static_cast<std::uint32_t>(elements.size()), sizeof(T));
        handles_.push_back(handle);
        return handle;
    }

private:
    std::vector<starpu_data_handle_t> handles_;
};

/// Brings a vector to the host.
void fetch(starpu_data_handle_t handle);

/// An OpenCL program that StarPU has built for all its devices; without any it is none.
class StarPuProgram {
public:
    StarPuProgram(const std::string& source, const std::string& options);
    ~StarPuProgram();
    StarPuProgram(const StarPuProgram&) = delete; // StarPU fills it in
    StarPuProgram& operator=(const StarPuProgram&) = delete;
    [[nodiscard]] starpu_opencl_program& operator*() const noexcept { return program_; }

private:
    mutable starpu_opencl_program program_{};
    bool is_built_ = false;
};

/// One kernel of a program on the calling worker's queue, from its first argument to its release.
class StarPuLaunch {
public:
    StarPuLaunch(const StarPuProgram& program, const char* kernel);
    ~StarPuLaunch();
    StarPuLaunch(const StarPuLaunch&) = delete; // releases once
    StarPuLaunch& operator=(const StarPuLaunch&) = delete;

    template <class T>
    StarPuLaunch& argument(const T& value) {
        set(sizeof value, &value);
        return *this;
    }
    /// The memory of a task's vector on this worker's device.
    StarPuLaunch& vector(void* buffer);
    /// Enqueues `items` work-items in one dimension; StarPU waits for the queue.
    void run(std::uint64_t items);

private:
    void set(std::size_t size, const void* value);

    cl_kernel kernel_ = nullptr;
    cl_command_queue queue_ = nullptr;
    cl_uint arguments_ = 0;
};

/// A codelet for processors and OpenCL, with a performance model by the name. It outlives the session, which
/// saves the model at its end.
struct StarPuCodelet {
    StarPuCodelet(const char* name, starpu_cpu_func_t on_cpu, starpu_opencl_func_t on_opencl,
                  std::vector<starpu_data_access_mode> modes);
    StarPuCodelet(const StarPuCodelet&) = delete; // StarPU holds its address
    StarPuCodelet& operator=(const StarPuCodelet&) = delete;

    starpu_perfmodel model{};
    starpu_codelet codelet{};
};

/// Submits a task on these vectors; `argument` outlives it.
void submit(StarPuCodelet& codelet, std::span<const starpu_data_handle_t> handles, const void* argument);

} // namespace bench
