#include "base/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/quote.hpp"

namespace idlewave {

InputFile::InputFile(const std::string& path, const char* what)
    : name_(file_name(path)), what_(what), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status{};
    if (file_ < 0) {
        fail(std::strerror(errno));
    }
    if (::fstat(file_, &status) != 0 || S_ISDIR(status.st_mode)) {
        const int error = S_ISDIR(status.st_mode) ? EISDIR : errno;
        ::close(file_);
        fail(std::strerror(error));
    }
    regular_ = S_ISREG(status.st_mode);
    size_ = regular_ ? static_cast<std::uint64_t>(status.st_size) : 0;
}

InputFile::~InputFile() {
    ::close(file_);
}

std::span<const std::byte> InputFile::peek(std::size_t count) {
    while (peeked_.size() < count) {
        std::vector<std::byte> more(count - peeked_.size());
        const ssize_t got = ::read(file_, more.data(), more.size());
        if (got < 0 && errno != EINTR) {
            fail(std::strerror(errno));
        }
        if (got == 0) {
            break;
        }
        peeked_.insert(peeked_.end(), more.begin(), more.begin() + std::max<ssize_t>(got, 0));
    }
    return std::span(peeked_).first(std::min(count, peeked_.size()));
}

std::size_t InputFile::read(std::span<std::byte> into) {
    if (!peeked_.empty()) {
        const std::size_t count = std::min(into.size(), peeked_.size());
        std::copy_n(peeked_.begin(), count, into.begin());
        peeked_.erase(peeked_.begin(), peeked_.begin() + static_cast<std::ptrdiff_t>(count));
        return count;
    }
    ssize_t got = -1;
    do {
        got = ::read(file_, into.data(), into.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        fail(std::strerror(errno));
    }
    return static_cast<std::size_t>(got);
}

void InputFile::read_at(std::uint64_t offset, std::span<std::byte> into) const {
    while (!into.empty()) {
        const ssize_t got = ::pread(file_, into.data(), into.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            fail(got < 0 ? std::strerror(errno) : "it became shorter while it was read");
        }
        into = into.subspan(static_cast<std::size_t>(got));
        offset += static_cast<std::uint64_t>(got);
    }
}

void InputFile::fail(const std::string& why) const {
    throw InputError(name_ + ": cannot be read as " + what_ + ": " + why);
}

std::span<const std::byte> FileWindow::view(std::uint64_t offset, std::uint64_t count) {
    const bool begins_inside = offset >= begin_ && offset - begin_ <= bytes_.size();
    if (!begins_inside || count > bytes_.size() - (offset - begin_)) {
        // After a jump the window holds no more than was asked for: random access would read ahead in vain.
        const std::uint64_t wanted = begins_inside ? std::max<std::uint64_t>(count, ahead_) : count;
        bytes_.resize(std::min(wanted, file_.size() - offset));
        begin_ = offset;
        file_.read_at(offset, bytes_);
    }
    return std::span<const std::byte>(bytes_).subspan(offset - begin_, count);
}

}  // namespace idlewave
