#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace idlewave {

/// A file that is read in pieces. All errors are InputErrors that name the file.
class InputFile {
  public:
    /// `what` says in errors what the file was to be read as.
    explicit InputFile(const std::string& path, const char* what = "a schedule");
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile();

    /// The name as messages show it.
    [[nodiscard]] const std::string& name() const { return name_; }

    /// Whether the file has a size and can be read at any offset; a pipe has neither.
    [[nodiscard]] bool regular() const { return regular_; }

    /// The size in bytes when the file was opened; 0 if it is not regular.
    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// The first `count` bytes, or fewer if the file is shorter. `read` returns them again.
    std::span<const std::byte> peek(std::size_t count);

    /// Reads the next bytes: at least one, unless the file has ended. Returns their number.
    std::size_t read(std::span<std::byte> into);

    /// Reads bytes at `offset` of a regular file. Throws if the file is shorter.
    void read_at(std::uint64_t offset, std::span<std::byte> into) const;

  private:
    [[noreturn]] void fail(const std::string& why) const;

    std::string name_;
    const char* what_;
    int file_ = -1;
    bool regular_ = false;
    std::uint64_t size_ = 0;
    std::vector<std::byte> peeked_;  ///< bytes that were read, but not yet returned by `read`
};

/// A window that moves over a regular file. A file that is read from front to back is in memory one window at a time.
class FileWindow {
  public:
    static constexpr std::size_t ahead_in_table = std::size_t{1} << 16;  ///< enough for a table
    static constexpr std::size_t ahead_in_body = std::size_t{1} << 19;   ///< enough for what a table leads to

    /// The file must outlive the window. While the file is read from front to back, a window holds at least `ahead`
    /// bytes.
    FileWindow(const InputFile& file, std::size_t ahead) : file_(file), ahead_(ahead) {}

    /// The bytes [offset, offset + count), which must lie in the file; valid until the next call.
    std::span<const std::byte> view(std::uint64_t offset, std::uint64_t count);

  private:
    const InputFile& file_;
    std::size_t ahead_;
    std::uint64_t begin_ = 0;
    std::vector<std::byte> bytes_;
};

}  // namespace idlewave
