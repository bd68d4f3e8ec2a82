// core/device.hpp - one place that computes, with its memory: the interface that every backend implements.
// Virtual at the granularity of requests (a copy, a launch), never of work units.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/core/event.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/number_type.hpp>
#include <headrace/core/pattern.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace headrace {

using Bytes = std::size_t;

enum class DeviceKind : std::uint8_t { cpu, gpu, accelerator };
[[nodiscard]] HEADRACE_EXPORT std::string_view to_string(DeviceKind kind) noexcept;

/// What a device says of itself.
struct DeviceInfo {
    std::string id;             ///< how a device list names it: "cpu", "cuda:0", "opencl:1"
    std::string name;           ///< for people: "NVIDIA H200"
    std::string technology;     ///< "cpu", "cuda", "hip" or "opencl": which kernels it can run
    std::string architecture{}; ///< what code can be made for: "sm_90", "gfx90a"; empty: nobody says
    std::string driver;         ///< version of the driver or library below
    std::string
        physical_id; ///< the silicon behind it: "cpu" or a PCI address; equal for two views of one thing
    DeviceKind kind = DeviceKind::cpu;
    Bytes memory = 0;                ///< total
    Bytes largest_allocation = 0;    ///< at once
    unsigned compute_units = 1;      ///< cores, multiprocessors
    unsigned lane_group = 1;         ///< lanes that run in step
    double peak_gflops = 0;          ///< single precision, theoretical: the capability of the peak model
    bool shares_host_memory = false; ///< its kernels can work in place on host memory (zero copy)
    /// Its kernels take addresses, and so can be given part of a datum; else handles of all of it.
    bool has_addresses = true;
    /// Running kernels and the host see each other's words in `allocate_host` memory.
    bool hears_host = false;
};

/// The driver's own handles, for kernels and for user code that calls cuBLAS, oneTBB or an OpenCL library.
///
/// technology | stream            | context      | device
/// cpu        | headrace::CpuArena* | -          | -
/// cuda, hip  | cudaStream_t, hipStream_t | -    | - (`ordinal` is current while the body runs)
/// opencl     | cl_command_queue  | cl_context   | cl_device_id (`ordinal`: see opencl::StreamNumber)
struct NativeStream {
    std::string_view technology;
    void* stream = nullptr;
    void* context = nullptr;
    void* device = nullptr;
    int ordinal = 0;
};

/// One allocation on a device; freed when destroyed. Whoever destroys it sees to it that nothing uses it.
class HEADRACE_EXPORT Memory {
public:
    virtual ~Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    [[nodiscard]] virtual Bytes size() const noexcept = 0;
    /// The address that this device's kernels use; null where memory has none (OpenCL buffers).
    [[nodiscard]] virtual void* address() const noexcept = 0;
    /// The driver's handle where kernels need that instead (a cl_mem); else null.
    [[nodiscard]] virtual void* handle() const noexcept { return nullptr; }

protected:
    Memory() = default;
};

/// An array of floats as a picture that the device's own hardware filters: a texture object, an OpenCL image.
///
/// The memory that it was made of outlives it, and nothing samples it any more when it is destroyed.
class HEADRACE_EXPORT DeviceTexture {
public:
    virtual ~DeviceTexture() = default;
    DeviceTexture(const DeviceTexture&) = delete;
    DeviceTexture& operator=(const DeviceTexture&) = delete;

    /// What kernels take: a cudaTextureObject_t, a cl_mem. Coordinates count pixels from a corner (centres at
    /// .5), filtering is linear, and beyond the edge is what is there.
    [[nodiscard]] virtual std::uint64_t handle() const noexcept = 0;
    /// True if it shows whatever the memory holds; else what it held when it was last refreshed.
    [[nodiscard]] virtual bool shows_memory() const noexcept = 0;
    /// Enqueues, in the body of a launch on that stream, what makes it show what the memory holds then.
    virtual void refresh(const NativeStream& stream) = 0;

protected:
    DeviceTexture() = default;
};

/// Which requests have times, at least, that their events can tell: to measure is work for GPUs and drivers.
enum class Timing : std::uint8_t {
    traced, ///< those that are submitted while a Trace records
    all
};

/// In-order requests of one device. Several streams of a device run beside each other.
///
/// Every call returns at once, unless the device has as many requests before it as its driver takes: then it
/// waits for some of these to end. The work starts when all events in `after` have completed and the requests
/// before it on this stream have ended. If one in `after` failed, the work's event carries that failure
/// (native work that cannot be held back may run, but nobody is told that it succeeded).
/// Host memory given to a copy must stay until the event completes. Threads: one at a time.
/// Errors: misuse throws invalid_argument; a failure of the work completes the event with an Error.
class HEADRACE_EXPORT Stream {
public:
    /// Enqueues native work on the stream given to it. On a CPU it is the work, and runs on the stream's
    /// thread once its time has come; elsewhere it runs during the call of `launch`, and enqueues a handful
    /// of commands: drivers take a thousand or so of a stream that waits. May throw; the event then fails.
    using Body = std::function<void(const NativeStream&)>;

    virtual ~Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    virtual Event copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                          std::span<const Event> after = {}) = 0;
    virtual Event copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                           std::span<const Event> after = {}) = 0;
    /// From the memory of `source`, another device of which `Device::reaches` is true, or this one.
    virtual Event copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                            std::span<const Event> after = {}) = 0;
    /// Adds numbers of that type, those in `size` bytes of `from` from `offset` on, to those in the same
    /// place of `to`; from the memory of a device of which `Device::adds_from` is true.
    virtual Event add(Memory& to, const Memory& from, Bytes offset, Bytes size, NumberType type,
                      std::span<const Event> after = {});
    /// Writes `pattern` from `offset` on, again and again; both numbers are multiples of its size. Nothing
    /// but the pattern moves to the device.
    virtual Event fill(Memory& memory, Bytes offset, Bytes size, Pattern pattern,
                       std::span<const Event> after = {}) = 0;
    Event fill_zero(Memory& memory, Bytes offset, Bytes size, std::span<const Event> after = {}) {
        return fill(memory, offset, size, Pattern{}, after);
    }
    /// The event's times, if it has any, span the body's native work.
    virtual Event launch(Body body, std::span<const Event> after = {}) = 0;

protected:
    Stream() = default;
};

/// One place that computes, with its memory node.
///
/// Threads: any. Errors: throws device (driver failed, with its code) and out_of_memory (with sizes).
class HEADRACE_EXPORT Device {
public:
    virtual ~Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;
    /// Uninitialised, aligned to at least 64 bytes; `size` > 0.
    [[nodiscard]] virtual std::unique_ptr<Memory> allocate(Bytes size) = 0;
    /// Host memory that this device copies from and to at full speed (pinned where that exists). It is used
    /// again: what copies from or to it must have ended before it goes.
    [[nodiscard]] virtual std::shared_ptr<void> allocate_host(Bytes size) = 0;
    [[nodiscard]] virtual std::unique_ptr<Stream> make_stream(Timing timing) = 0;
    [[nodiscard]] std::unique_ptr<Stream> make_stream() { return make_stream(Timing::traced); }
    /// A texture of rows x columns floats, row-major, the first at `offset`. Null if the device has no
    /// hardware for one, or none so large.
    [[nodiscard]] virtual std::unique_ptr<DeviceTexture>
    make_texture(const Memory& /*pixels*/, Bytes /*offset*/, int /*rows*/, int /*columns*/) {
        return nullptr;
    }
    /// True if its kernels reach this memory of the host's where it is, at the same address.
    [[nodiscard]] virtual bool reaches_host(const void* /*memory*/) const {
        return info().shares_host_memory;
    }
    /// True if copy_peer from `other`'s memory works without the host.
    [[nodiscard]] virtual bool reaches(const Device& other) const = 0;
    /// True if its streams add what is in `other`'s memory: what it reaches, or its own.
    [[nodiscard]] virtual bool adds_from(const Device& /*other*/) const { return false; }
    /// Free bytes now, or an estimate.
    [[nodiscard]] virtual Bytes free_memory() const = 0;

protected:
    Device() = default;
};

} // namespace headrace
