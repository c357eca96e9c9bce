#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "dice.hpp"
#include "trace/call.hpp"
#include "trace_bytes.hpp"

namespace idlewave::testing {

/// A random run of ranks whose threads send and receive at a time, with few tags, so that they race for messages; and
/// its trace. Threads are interleaved step by step, as a system would: a call begins, then takes effect, then ends. A
/// request may be waited for by any thread of its rank.
class ThreadedRun {
  public:
    ThreadedRun(Dice& dice, std::uint32_t ranks, std::uint32_t threads) : dice_(dice), threads_(threads) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            ranks_.emplace_back(rank, ranks, threads);
            ranks_.back().file.began(now_);
        }
    }

    std::vector<TraceBytes> run(std::uint32_t steps) {
        for (std::uint32_t i = 0; i < steps; ++i) {
            Rank& rank = ranks_[dice_.small(size())];
            step(rank, rank.threads[dice_.small(threads_)], true);
        }
        while (!finished()) {
            Rank& rank = ranks_[dice_.small(size())];
            step(rank, rank.threads[dice_.small(threads_)], false);
        }
        std::vector<TraceBytes> files;
        for (Rank& rank : ranks_) {
            enter(rank, 0);
            rank.file.call(trace::Call::finalize, now_, now_ + 1, {});
            files.push_back(std::move(rank.file));
        }
        return files;
    }

    [[nodiscard]] std::uint64_t messages() const { return messages_; }

  private:
    enum class Stage : std::uint8_t { idle, begun, done };
    enum class What : std::uint8_t { send, receive, post, wait };

    struct Receive {
        std::uint32_t source;
        std::uint32_t tag;
        std::uint64_t request;
        bool returned = false;  ///< from the call that posts it
        bool complete = false;
        bool awaited = false;
    };
    struct Thread {
        std::uint32_t number;
        Stage stage = Stage::idle;
        What what = What::send;
        std::int64_t begin = 0;
        std::uint32_t peer = 0;
        std::uint32_t tag = 0;
        std::uint32_t receive = 0;  ///< index in `receives`
    };
    struct Rank {
        Rank(std::uint32_t number_, std::uint32_t ranks, std::uint32_t threads_of_it)
            : number(number_), file(number_, ranks) {
            for (std::uint32_t thread = 0; thread < threads_of_it; ++thread) {
                threads.push_back({.number = thread});
            }
        }
        std::uint32_t number;
        TraceBytes file;
        std::vector<Thread> threads;
        std::vector<Receive> receives;
        std::uint32_t recorded_thread = 0;
        std::uint32_t numbers = 1;  ///< of threads that the file has so far
        std::map<std::uint32_t, std::uint32_t> number_of{{0, 0}};
        std::int64_t last_end = 0;
    };
    using Channel = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // source, destination, tag

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(ranks_.size()); }

    [[nodiscard]] bool finished() const {
        const auto taken = [](const auto& channel) { return channel.second == 0; };
        return std::ranges::all_of(unexpected_, taken) && std::ranges::all_of(ranks_, [](const Rank& rank) {
                   return std::ranges::all_of(rank.threads, [](const Thread& t) { return t.stage == Stage::idle; }) &&
                          std::ranges::all_of(rank.receives, &Receive::awaited);
               });
    }

    void step(Rank& rank, Thread& thread, bool freely) {
        ++now_;
        switch (thread.stage) {
            case Stage::idle:
                begin(rank, thread, freely);
                break;
            case Stage::begun:
                if (take_effect(rank, thread)) {
                    thread.stage = Stage::done;
                }
                break;
            case Stage::done:
                end(rank, thread);
        }
    }

    /// The first thread of a rank never blocks, so that the run comes to its end: then it sends what others wait for,
    /// and receives what is left over.
    void begin(Rank& rank, Thread& thread, bool freely) {
        if (freely ? choose(rank, thread) : choose_last(rank, thread)) {
            thread.begin = now_;
            thread.stage = Stage::begun;
        }
    }

    bool choose(Rank& rank, Thread& thread) {
        thread.peer = (rank.number + 1 + dice_.small(size() - 1)) % size();
        thread.tag = dice_.small(2);
        thread.what = static_cast<What>(dice_.small(4));
        if (thread.what == What::receive && thread.number == 0) {
            return false;
        }
        return thread.what != What::wait || choose_request(rank, thread, thread.number != 0);
    }

    bool choose_request(Rank& rank, Thread& thread, bool incomplete) {
        for (std::uint32_t i = 0; i < rank.receives.size(); ++i) {
            Receive& receive = rank.receives[i];
            if (receive.request != 0 && receive.returned && !receive.awaited && (receive.complete || incomplete) &&
                dice_.one_in(2)) {
                receive.awaited = true;
                thread.receive = i;
                return true;
            }
        }
        return false;
    }

    bool choose_last(Rank& rank, Thread& thread) {
        if (thread.number != 0) {
            return false;
        }
        thread.what = What::wait;
        if (choose_request(rank, thread, false)) {
            return true;
        }
        for (const auto& [channel, waiting] : posted_) {
            const auto [source, destination, tag] = channel;
            if (source == rank.number && !waiting.empty()) {
                thread.what = What::send;
                thread.peer = destination;
                thread.tag = tag;
                return true;
            }
        }
        for (const auto& [channel, count] : unexpected_) {
            const auto [source, destination, tag] = channel;
            if (destination == rank.number && count > 0) {
                thread.what = What::post;
                thread.peer = source;
                thread.tag = tag;
                return true;
            }
        }
        return false;
    }

    bool take_effect(Rank& rank, Thread& thread) {
        switch (thread.what) {
            case What::send:
                send({rank.number, thread.peer, thread.tag});
                return true;
            case What::receive:
            case What::post:
                thread.receive = static_cast<std::uint32_t>(rank.receives.size());
                rank.receives.push_back({.source = thread.peer,
                                         .tag = thread.tag,
                                         .request = thread.what == What::post ? ++requests_ : 0,
                                         .awaited = thread.what == What::receive});
                post(rank, thread.receive);
                return true;
            case What::wait:
                return rank.receives[thread.receive].complete;
        }
        return true;
    }

    void send(Channel channel) {
        ++messages_;
        auto& waiting = posted_[channel];
        if (waiting.empty()) {
            ++unexpected_[channel];
            return;
        }
        ranks_[std::get<1>(channel)].receives[waiting.front()].complete = true;
        waiting.pop_front();
    }

    void post(Rank& rank, std::uint32_t number) {
        Receive& receive = rank.receives[number];
        const Channel channel{receive.source, rank.number, receive.tag};
        if (unexpected_[channel] > 0) {
            --unexpected_[channel];
            receive.complete = true;
        } else {
            posted_[channel].push_back(number);
        }
    }

    void end(Rank& rank, Thread& thread) {
        const auto peer = static_cast<std::int32_t>(thread.peer);
        const std::uint64_t envelope = pair(peer, static_cast<std::int32_t>(thread.tag));
        using trace::Call;
        switch (thread.what) {
            case What::send:
                record(rank, thread, Call::send, {world, envelope, 8});
                break;
            case What::receive:
                if (!rank.receives[thread.receive].complete) {
                    return;
                }
                record(rank, thread, Call::recv, {world, envelope, 8, envelope, 8});
                break;
            case What::post:
                rank.receives[thread.receive].returned = true;
                record(rank, thread, Call::irecv, {world, envelope, 8, rank.receives[thread.receive].request});
                break;
            case What::wait: {
                const Receive& receive = rank.receives[thread.receive];
                const std::uint64_t received =
                    pair(static_cast<std::int32_t>(receive.source), static_cast<std::int32_t>(receive.tag));
                record(rank, thread, Call::wait, {receive.request, received, 8});
            }
        }
        thread.stage = Stage::idle;
    }

    void enter(Rank& rank, std::uint32_t thread) {
        if (!rank.number_of.contains(thread)) {
            rank.number_of[thread] = rank.numbers++;
        }
        if (rank.recorded_thread != thread) {
            rank.file.thread(rank.number_of[thread], rank.last_end);
            rank.recorded_thread = thread;
        }
    }

    void record(Rank& rank, const Thread& thread, trace::Call call, const std::vector<std::uint64_t>& words) {
        enter(rank, thread.number);
        rank.file.call(call, thread.begin, now_, words);
        rank.last_end = now_;
    }

    Dice& dice_;
    std::uint32_t threads_;
    std::int64_t now_ = 1000;
    std::uint64_t requests_ = 0;
    std::uint64_t messages_ = 0;
    std::vector<Rank> ranks_;
    std::map<Channel, std::deque<std::uint32_t>> posted_;
    std::map<Channel, std::uint64_t> unexpected_;
};

}  // namespace idlewave::testing
