// apps/video/byte_stream.hpp - files and pipes as bytes in order, straight to and from the caller's memory.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace video {

/// An open file; closed at the end.
class Descriptor {
public:
    Descriptor(int number, bool owned) : number_(number), owned_(owned) {}
    ~Descriptor();
    Descriptor(const Descriptor&) = delete; // one owner
    Descriptor& operator=(const Descriptor&) = delete;

    [[nodiscard]] int number() const noexcept { return number_; }
    /// Closes it now; false, with errno, if what was written before could not be kept.
    [[nodiscard]] bool close();

private:
    int number_;
    bool owned_;
};

/// Reads from the beginning to the end. Threads: one at a time.
class ByteInput {
public:
    /// "-": standard input. Errors: not_found, invalid_argument
    explicit ByteInput(const std::string& file);

    /// For messages.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// What `read` will give next, as many bytes if there are.
    [[nodiscard]] std::string_view peek(std::size_t count);
    /// Blocks until `bytes` are full. Returns how many there are: fewer only at the end. Errors: io
    std::size_t read(std::span<std::byte> bytes);

private:
    std::string name_;
    Descriptor file_;
    std::string peeked_{}; ///< and not read yet
};

/// Writes from the beginning. Threads: one at a time.
class ByteOutput {
public:
    /// "-": standard output; a file that is there is overwritten. Errors: invalid_argument
    explicit ByteOutput(const std::string& file);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// `head` and then `body`, all of it. Errors: io
    void write(std::span<const std::byte> head, std::span<const std::byte> body);
    /// No more is written. Errors: io, if what was written could not be kept
    void close();

private:
    std::string name_;
    Descriptor file_;
};

} // namespace video
