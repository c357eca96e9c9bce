// A burst of exchanges with another rank that reads its clock, and the clocks' offset from it. The tracer and the probe
// of clocks include this file: it is in the common part of C11 and C++.
//
// The method is Cristian's (1989): the other clock is read between request and answer, so each exchange holds the
// offset between two bounds. A delayed message only widens them. So the best bounds are the highest lower one and the
// lowest upper one, which may come from two exchanges (the envelope of SKaMPI's synchronisation: T. Worsch, R.
// Reussner, W. Augustin, On benchmarking collective MPI operations, 2002). No number of exchanges reduces the error of
// a path that is never as short in one direction as in the other.
#ifndef IDLEWAVE_CLOCK_BURST_H
#define IDLEWAVE_CLOCK_BURST_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t (*read)(const void* context);  // ns
    const void* context;
} ClockSource;

typedef struct {
    int64_t asked;     // the requesting rank's clock at the request, ns
    int64_t answer;    // the other's clock, ns
    int64_t answered;  // the requesting rank's clock at the answer, ns
} ClockExchange;

typedef struct {
    int64_t offset;  // the other clock minus this one's, ns
    int64_t error;   // the largest error of the offset, ns
    int64_t at;      // this rank's clock when the offset held, ns
} ClockOffset;

// A burst ends when BURST_IDLE exchanges in a row have not reduced the error by a fiftieth.
enum { BURST_LEAST = 15, BURST_MOST = 60, BURST_IDLE = 10, BURST_TAG_ASK = 2, BURST_TAG_ANSWER = 3, BURST_TAG_END = 4 };

// Clocks drift by less than one part in BURST_DRIFT.
enum { BURST_DRIFT = 10000 };

static inline ClockOffset clock_offset_between(ClockExchange low, ClockExchange high) {
    const int64_t low_at = low.asked + (low.answered - low.asked) / 2;
    const int64_t high_at = high.asked + (high.answered - high.asked) / 2;
    const int64_t apart = high_at > low_at ? high_at - low_at : low_at - high_at;
    const int64_t lower = low.answer - low.answered - apart / BURST_DRIFT;
    const int64_t upper = high.answer - high.asked + apart / BURST_DRIFT;
    ClockOffset found;
    found.offset = lower + (upper - lower) / 2;
    found.error = (upper - lower + 1) / 2;
    found.at = low_at + (high_at - low_at) / 2;
    return found;
}

// The offset by `count` exchanges, at least one: between the best bounds of all, or by the shortest round trip if its
// error is smaller (bounds taken far apart are widened by the possible drift between them).
static inline ClockOffset clock_estimate(const ClockExchange* exchanges, int count) {
    ClockExchange low = exchanges[0];
    ClockExchange high = exchanges[0];
    ClockExchange shortest = exchanges[0];
    for (int i = 1; i < count; i++) {
        const ClockExchange e = exchanges[i];
        if (e.answer - e.answered > low.answer - low.answered) low = e;
        if (e.answer - e.asked < high.answer - high.asked) high = e;
        if (e.answered - e.asked < shortest.answered - shortest.asked) shortest = e;
    }
    const ClockOffset single = clock_offset_between(shortest, shortest);
    const ClockOffset both = clock_offset_between(low, high);
    return both.error > 0 && both.error < single.error ? both : single;
}

// The requesting side. Returns the number of exchanges, at most BURST_MOST; `exchanges` must have room for that many.
static inline int clock_ask(MPI_Comm comm, int other, ClockSource clock, ClockExchange* exchanges) {
    int count = 0;
    int idle = 0;
    int64_t error = INT64_MAX;
    while (count < BURST_MOST && (count < BURST_LEAST || idle < BURST_IDLE)) {
        ClockExchange* e = &exchanges[count++];
        e->asked = clock.read(clock.context);
        PMPI_Send(NULL, 0, MPI_BYTE, other, BURST_TAG_ASK, comm);
        PMPI_Recv(&e->answer, 1, MPI_INT64_T, other, BURST_TAG_ANSWER, comm, MPI_STATUS_IGNORE);
        e->answered = clock.read(clock.context);
        const int64_t now = clock_estimate(exchanges, count).error;
        idle = now < error - error / 50 ? 0 : idle + 1;
        if (now < error) error = now;
    }
    PMPI_Send(NULL, 0, MPI_BYTE, other, BURST_TAG_END, comm);
    return count;
}

// The answering side: it answers until the other side ends the burst.
static inline void clock_answer(MPI_Comm comm, int other, ClockSource clock) {
    while (true) {
        MPI_Status status;
        PMPI_Recv(NULL, 0, MPI_BYTE, other, MPI_ANY_TAG, comm, &status);
        if (status.MPI_TAG != BURST_TAG_ASK) return;
        const int64_t answer = clock.read(clock.context);
        PMPI_Send(&answer, 1, MPI_INT64_T, other, BURST_TAG_ANSWER, comm);
    }
}

#endif
