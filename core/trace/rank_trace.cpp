#include "trace/rank_trace.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/error.hpp"
#include "base/quote.hpp"

namespace idlewave::trace {
namespace {

/// Adds a time of a record, in ns, which may be anything.
void add_wait(std::int64_t& all, std::int64_t wait) {
    all = std::min(all + std::clamp<std::int64_t>(wait, 0, latest), latest);
}

/// Those that do not know their run are of an earlier tracer, or died in MPI_Init.
void check_one_run(const std::vector<RankTrace>& ranks) {
    const auto known = std::ranges::find_if(ranks, [](const RankTrace& rank) { return rank.run_id() != 0; });
    for (const RankTrace& rank : ranks) {
        if (rank.run_id() != 0 && rank.run_id() != known->run_id()) {
            throw InputError(rank.name() + ": is of another run than " + known->name() +
                             ": files of two runs are mixed");
        }
    }
}

/// A larger number of cores is damage, and counts as not known.
constexpr std::uint64_t most_host_cores = std::uint64_t{1} << 20;
/// Of those that a rank may use, as many as the tracer writes.
constexpr std::size_t most_usable_cores = 1024;

}  // namespace

std::int64_t TraceHeader::global(std::int64_t t) const {
    const std::int64_t span = offset_finalize_at - offset_init_at;
    if (offset_finalize_at == 0 || span <= 0) {
        return t + offset_init;
    }
    const double drift = static_cast<double>(offset_finalize - offset_init) / static_cast<double>(span);
    constexpr auto most = static_cast<double>(latest);
    const double drifted = std::clamp(drift * static_cast<double>(t - offset_init_at), -most, most);
    return t + offset_init + static_cast<std::int64_t>(std::llround(drifted));
}

RankTrace::RankTrace(std::string path, std::vector<std::uint64_t> words, std::uint64_t bytes, const std::string& name)
    : path_(std::move(path)), words_(std::move(words)), bytes_(bytes), name_(file_name(name)) {
    RecordReader reader = this->reader();
    header_ = reader.header();
    header_bytes_ = reader.header_bytes();
    threads_[0] = {header_.init_end, header_.init_end, true};
    TraceRecord record;
    while (reader.next(record)) {
        ++size_;
        note_thread(record);
        run_id_ = record.call == Call::init && !record.words.empty() ? record.words[0] : run_id_;
        note_host_cores(record);
        defines_communicators_ = defines_communicators_ || record.call == Call::comm_def;
        one_sided_calls_ += record.call == Call::one_sided ? 1 : 0;
        file_calls_ += call_group(record.call) == CallGroup::file ? 1 : 0;
        core_waits_known_ = core_waits_known_ || (record.call == Call::init && (record.info & 1) != 0);
        if (record.call == Call::core_wait) {
            ++waits_;
            add_wait(core_wait_in_computations_, record.number(0));
            add_wait(core_wait_in_calls_, record.number(1));
        }
    }
}

void RankTrace::note_thread(const TraceRecord& record) {
    while (threads_.size() <= record.thread) {  // a thread none of whose calls succeeded has no record
        threads_.push_back({record.begin, record.begin});
    }
    ThreadSpan& thread = threads_[record.thread];
    if (record.call == Call::core_wait) {  // it has the time of the record before, of whichever thread
        return;
    }
    thread.begin = thread.called ? thread.begin : record.begin;
    thread.called = true;
    thread.end = record.end;
}

/// Notes what MPI_Init and MPI_Finalize say of the host's cores.
void RankTrace::note_host_cores(const TraceRecord& record) {
    if (record.call == Call::finalize && !record.words.empty()) {
        host_cores_.busy_end = record.number(0);
    }
    if (record.call != Call::init || record.words.size() < 3) {
        return;
    }
    const std::uint64_t number = record.words[2];
    host_cores_ = {.number = number <= most_host_cores ? static_cast<std::uint32_t>(number) : 0,
                   .usable = {},
                   .busy_begin = record.number(1)};
    constexpr std::size_t bits = 64;
    const auto masks = record.words.subspan(3);
    for (std::size_t core = 0; core < bits * std::min<std::size_t>(masks.size(), most_usable_cores / bits); ++core) {
        if ((masks[core / bits] >> core % bits & 1) != 0) {
            host_cores_.usable.push_back(static_cast<std::uint32_t>(core));
        }
    }
}

RankTrace RankTrace::read(const std::string& file) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {  // opening a pipe would block
        throw InputError(file_name(file) + ": cannot be read as a trace: it is no file");
    }
    return {std::filesystem::absolute(file).string(), {}, 0, file};  // the working directory may change
}

RankTrace RankTrace::from_bytes(std::span<const std::byte> bytes, const std::string& name) {
    std::vector<std::uint64_t> words((bytes.size() + 7) / 8);
    if (!bytes.empty()) {
        std::memcpy(words.data(), bytes.data(), bytes.size());
    }
    return {{}, std::move(words), bytes.size(), name};
}

void RankTrace::refuse_change() const {
    throw InputError(name_ + ": has changed since it was checked: expected the trace of one run");
}

Trace Trace::read(const std::string& directory) {
    std::map<std::string, std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
        if (entry.path().extension() == ".iwtrace") {
            files.emplace(entry.path().filename().string(), entry.path().string());
        }
    }
    if (error) {
        throw InputError(file_name(directory) + ": cannot be read as a trace: " + error.message());
    }
    if (files.empty()) {
        throw InputError(file_name(directory) + ": expected a trace, found no file rank-….iwtrace");
    }
    Trace trace;
    for (const auto& [name, path] : files) {
        trace.ranks.push_back(RankTrace::read(path));
    }
    std::sort(trace.ranks.begin(), trace.ranks.end(),
              [](const RankTrace& a, const RankTrace& b) { return a.header().rank < b.header().rank; });
    const std::uint32_t expected = trace.ranks.front().header().ranks;
    for (std::uint32_t r = 0; r < trace.ranks.size(); ++r) {
        const TraceHeader& header = trace.ranks[r].header();
        if (header.ranks != expected) {
            throw InputError(trace.ranks[r].name() + ": is one of " + std::to_string(header.ranks) +
                             " ranks, others of " + std::to_string(expected) + ": files of two runs are mixed");
        }
        if (header.rank != r) {
            throw InputError(file_name(directory) + ": expected one file for each of " + std::to_string(expected) +
                             " ranks, and there is " +
                             (header.rank > r ? "none for rank " + std::to_string(r)
                                              : "more than one for rank " + std::to_string(header.rank)));
        }
    }
    if (trace.ranks.size() != expected) {
        throw InputError(file_name(directory) + ": expected one file for each of " + std::to_string(expected) +
                         " ranks, and there is none for rank " + std::to_string(trace.ranks.size()));
    }
    check_one_run(trace.ranks);
    return trace;
}

std::int64_t Trace::begin() const {
    std::int64_t first = ranks.front().header().global(ranks.front().header().init_end);
    for (const RankTrace& rank : ranks) {
        first = std::min(first, rank.header().global(rank.header().init_end));
    }
    return first;
}

std::int64_t Trace::duration() const {
    std::int64_t last = begin();
    for (const RankTrace& rank : ranks) {
        last = std::max(last, rank.header().global(rank.header().finalize_begin));
    }
    return last - begin();
}

}  // namespace idlewave::trace
