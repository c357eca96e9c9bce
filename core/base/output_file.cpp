#include "base/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/quote.hpp"

namespace idlewave {
namespace {

constexpr std::size_t buffered = std::size_t{1} << 20;

/// The target of a symbolic link: the file is replaced, and not the link.
std::string behind_links(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
    return real ? std::string(real.get()) : path;
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
    struct stat status{};
    const bool exists = ::stat(path_.c_str(), &status) == 0;
    buffer_.reserve(buffered);
    if (exists && !S_ISREG(status.st_mode)) {
        file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    } else {
        // Another process may write the same file, and a killed one may have left its temporary file.
        const std::string beside = behind_links(path_) + "." + std::to_string(::getpid()) + "-";
        for (int i = 0; i == 0 || (file_ < 0 && errno == EEXIST && i < 1000); ++i) {
            temporary_ = beside + std::to_string(i) + ".part";
            file_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        }
    }
    if (file_ < 0) {
        fail(errno);
    }
    if (exists && !temporary_.empty()) {
        static_cast<void>(::fchmod(file_, status.st_mode & 07777));
    }
}

OutputFile::~OutputFile() {
    if (file_ >= 0) {
        ::close(file_);
        if (!temporary_.empty()) {
            ::unlink(temporary_.c_str());
        }
    }
}

void OutputFile::append(std::span<const std::byte> bytes) {
    size_ += bytes.size();
    while (!bytes.empty()) {
        const std::size_t part = std::min(bytes.size(), buffered - buffer_.size());
        buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
        bytes = bytes.subspan(part);
        if (buffer_.size() == buffered) {
            flush();
        }
    }
}

void OutputFile::skip(std::uint64_t count) {
    flush();
    if (::lseek(file_, static_cast<off_t>(count), SEEK_CUR) < 0) {
        fail(errno);
    }
    size_ += count;
}

void OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
    flush();
    while (!bytes.empty()) {
        const ssize_t done = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (done < 0 && errno != EINTR) {
            fail(errno);
        }
        bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(done, 0)));
        offset += static_cast<std::uint64_t>(std::max<ssize_t>(done, 0));
    }
}

void OutputFile::sync() {
    flush();
    if (::fsync(file_) != 0 && errno != EINVAL && errno != EROFS) {  // pipes and terminals cannot be synchronised
        fail(errno);
    }
}

void OutputFile::commit() {
    flush();
    const int file = std::exchange(file_, -1);
    const int closed = ::close(file) == 0 ? 0 : errno;
    if (temporary_.empty()) {
        if (closed != 0) {
            fail(closed);
        }
        return;
    }
    if (closed != 0 || ::rename(temporary_.c_str(), behind_links(path_).c_str()) != 0) {
        const int error = closed != 0 ? closed : errno;
        ::unlink(temporary_.c_str());
        fail(error);
    }
}

void OutputFile::flush() {
    std::span<const std::byte> left(buffer_);
    while (!left.empty()) {
        const ssize_t done = ::write(file_, left.data(), left.size());
        if (done < 0 && errno != EINTR) {
            fail(errno);
        }
        left = left.subspan(static_cast<std::size_t>(std::max<ssize_t>(done, 0)));
    }
    buffer_.clear();
}

void OutputFile::fail(int error) const {
    throw InputError(file_name(path_) + ": cannot be written: " + std::strerror(error));
}

}  // namespace idlewave
