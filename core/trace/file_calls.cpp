#include <algorithm>
#include <utility>

#include "trace/rank_converter.hpp"

/// How calls of files become the time that they took. What all ranks of a file do together begins with a barrier, and
/// takes what it took after the last of them had come.
namespace idlewave::trace {

RankConverter::File& RankConverter::file_of(const TraceRecord& r) {
    const auto found = open_files_.find(r.words[0]);
    if (found == open_files_.end()) {
        fail(r, "is on a file that this rank has not opened");
    }
    return found->second;
}

void RankConverter::open_file(const TraceRecord& r) {
    open_files_.insert_or_assign(r.words[0],
                                 File{.communicator = r.words[1], .ordinal = ++windows_and_files_made_[r.words[1]]});
    file_call(r);
}

void RankConverter::file_call(const TraceRecord& r) {
    File& file = file_of(r);
    std::int64_t took = r.end - r.begin;
    if (is_collective_file_call(r)) {
        synchronise(r, file.communicator, file.ordinal);
        const std::int64_t last = collective_file_calls_.entered(r.words[0], file.collective_calls++);
        const std::int64_t own = took - std::min(took, std::exchange(thread_->waited_inside, 0));
        took = std::clamp<std::int64_t>(trace_.header().global(r.end) - last, 0, own);
    }
    compute_for_call(took, files_);
    ++files_.calls;
    if (r.call == Call::file) {
        files_.bytes += size_of(r, r.number(2));
        if (r.words.size() > 3) {
            pending_[r.words[3]].requests.push_back({.thread = thread_->number, .timed = &files_});
        }
    }
    if (r.call == Call::file_close) {
        open_files_.erase(r.words[0]);
    }
}

}  // namespace idlewave::trace
