// core/device.hpp - one device that computes, with its memory: the interface that every backend implements.
// Virtual calls are made per request (a copy, a launch), never per work unit.
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

/// The properties of a device.
struct DeviceInfo {
    std::string id;             ///< its name in a device list: "cpu", "cuda:0", "opencl:1"
    std::string name;           ///< for people: "NVIDIA H200"
    std::string technology;     ///< "cpu", "cuda", "hip" or "opencl": which kernels it can run
    std::string architecture{}; ///< target of compiled code: "sm_90", "gfx90a"; empty: unknown
    std::string driver;         ///< version of the driver or library that it uses
    std::string
        physical_id; ///< its hardware: "cpu" or a PCI address; equal for two devices on the same hardware
    DeviceKind kind = DeviceKind::cpu;
    Bytes memory = 0;                ///< total
    Bytes largest_allocation = 0;    ///< the most that one allocation can have
    unsigned compute_units = 1;      ///< cores, multiprocessors
    unsigned lane_group = 1;         ///< lanes that run in step
    double peak_gflops = 0;          ///< theoretical, single precision: the capability in the peak model
    bool shares_host_memory = false; ///< its kernels can work in place on host memory (zero copy)
    /// True: its kernels take addresses, so they can use part of a datum. False: handles of a whole datum.
    bool has_addresses = true;
    /// Fine-grained host coherence: host and running kernels see each other's writes in `allocate_host` data.
    union {
        bool fine_grained_host_coherence = false;
        [[deprecated("it is fine_grained_host_coherence now")]] bool hears_host; ///< its name until 1.0
    };
};

/// The native handles of the driver, for kernels and user code that calls cuBLAS, oneTBB or OpenCL libraries.
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

/// One allocation on a device. The destructor frees it: the owner must first ensure that nothing uses it.
class HEADRACE_EXPORT Memory {
public:
    virtual ~Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    [[nodiscard]] virtual Bytes size() const noexcept = 0;
    /// The address that this device's kernels use; null if the memory has no address (OpenCL buffers).
    [[nodiscard]] virtual void* address() const noexcept = 0;
    /// The driver's handle if kernels need a handle instead (a cl_mem); else null.
    [[nodiscard]] virtual void* handle() const noexcept { return nullptr; }

protected:
    Memory() = default;
};

/// An array of floats that the texture hardware of the device filters: a texture object or an OpenCL image.
///
/// The memory that it was made from must outlive it. Destroy it only when no kernel samples it any more.
class HEADRACE_EXPORT DeviceTexture {
public:
    virtual ~DeviceTexture() = default;
    DeviceTexture(const DeviceTexture&) = delete;
    DeviceTexture& operator=(const DeviceTexture&) = delete;

    /// The argument for kernels: a cudaTextureObject_t or a cl_mem. Coordinates count pixels from a corner
    /// (pixel centres at .5). Filtering is linear. Outside the edge, the value at the edge is used (clamp).
    [[nodiscard]] virtual std::uint64_t handle() const noexcept = 0;
    /// True: it always shows the current contents of the memory. False: the contents at the last `refresh`.
    [[nodiscard]] virtual bool shows_memory() const noexcept = 0;
    /// Enqueues an update to the contents that the memory then has. Call it in a launch body on that stream.
    virtual void refresh(const NativeStream& stream) = 0;

protected:
    DeviceTexture() = default;
};

/// Which requests are at least measured, so their events have times. Measuring costs GPU and driver time.
enum class Timing : std::uint8_t {
    traced, ///< requests that are submitted while a Trace records
    all
};

/// What tells a stream which elements were changed: Stream::take_changes.
struct Changes {
    const Memory& before; ///< of the stream's device: what both replicas held from their `offset` on
    Bytes element;        ///< size of an element
    /// Of the stream's device, 8 bytes. The request lowers this number to the least element, counted from the
    /// beginning of `to`, that was changed in both replicas, into different bytes.
    Memory& conflict;
};

/// In-order requests of one device. Several streams of a device run concurrently.
///
/// Every call returns at once, unless the driver's limit of waiting requests is reached. Then the call waits
/// until some of them have ended. The work starts when all events in `after` have completed and all earlier
/// requests of this stream have ended. If an event in `after` failed, the work's event carries that failure
/// (native work that cannot be stopped may still run, but its event does not report success).
/// Host memory of a copy must stay valid until the event completes. Threads: one at a time.
/// Errors: misuse throws invalid_argument; a failure of the work completes the event with an Error.
class HEADRACE_EXPORT Stream {
public:
    /// Enqueues native work on the given stream. On a CPU the body is the work itself: it runs on the thread
    /// of the stream when the launch is ready. On other devices it runs inside `launch` and enqueues a few
    /// commands: drivers accept about 1000 commands of a waiting stream. If it throws, the event fails.
    using Body = std::function<void(const NativeStream&)>;

    virtual ~Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    virtual Event copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                          std::span<const Event> after = {}) = 0;
    virtual Event copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                           std::span<const Event> after = {}) = 0;
    /// `from` is memory of this device, or of another device for which `Device::reaches` is true.
    virtual Event copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                            std::span<const Event> after = {}) = 0;
    /// Adds the numbers in bytes [offset, offset + size) of `from` to those at the same offsets of `to`.
    /// `from` is memory of a device for which `Device::adds_from` is true.
    virtual Event add(Memory& to, const Memory& from, Bytes offset, Bytes size, NumberType type,
                      std::span<const Event> after = {});
    /// Elements in bytes [offset, offset + size) of `from` that differ from `changes.before` replace those at
    /// the same offsets of `to`. `from` is memory as in `add`. `offset` and `size` are multiples of an
    /// element's size. No two of the memories are the same.
    virtual Event take_changes(Memory& to, const Memory& from, Bytes offset, Bytes size,
                               const Changes& changes, std::span<const Event> after = {});
    /// Fills `size` bytes from `offset` on with repeated `pattern`. `offset` and `size` are multiples of the
    /// pattern's size. Only the pattern moves to the device.
    virtual Event fill(Memory& memory, Bytes offset, Bytes size, Pattern pattern,
                       std::span<const Event> after = {}) = 0;
    Event fill_zero(Memory& memory, Bytes offset, Bytes size, std::span<const Event> after = {}) {
        return fill(memory, offset, size, Pattern{}, after);
    }
    /// If the event has times, they cover the native work of the body.
    virtual Event launch(Body body, std::span<const Event> after = {}) = 0;

protected:
    Stream() = default;
};

/// One device that computes, with its memory.
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
    /// Host memory that this device copies from and to at full speed (pinned if possible). Freed memory is
    /// used again: all copies from or to it must end before the last pointer to it is released.
    [[nodiscard]] virtual std::shared_ptr<void> allocate_host(Bytes size) = 0;
    [[nodiscard]] virtual std::unique_ptr<Stream> make_stream(Timing timing) = 0;
    [[nodiscard]] std::unique_ptr<Stream> make_stream() { return make_stream(Timing::traced); }
    /// A texture of rows x columns floats, row-major, the first one at byte `offset`. Null if the device has
    /// no texture hardware, or if the texture is too large.
    [[nodiscard]] virtual std::unique_ptr<DeviceTexture>
    make_texture(const Memory& /*pixels*/, Bytes /*offset*/, int /*rows*/, int /*columns*/) {
        return nullptr;
    }
    /// True if its kernels can use this host memory directly, at the same address.
    [[nodiscard]] virtual bool reaches_host(const void* /*memory*/) const {
        return info().shares_host_memory;
    }
    /// True if copy_peer from `other`'s memory works without the host.
    [[nodiscard]] virtual bool reaches(const Device& other) const = 0;
    /// True if its streams can add numbers and take changes from `other`'s memory. `other` is this device or
    /// one it reaches.
    [[nodiscard]] virtual bool adds_from(const Device& /*other*/) const { return false; }
    /// The free bytes now, or an estimate.
    [[nodiscard]] virtual Bytes free_memory() const = 0;

protected:
    Device() = default;
};

} // namespace headrace
