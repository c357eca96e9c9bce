#include "request.h"

#include <stdlib.h>

void* scratch(ScratchKind kind, size_t bytes) {
    static _Thread_local struct {
        void* memory;
        size_t bytes;
    } blocks[SCRATCH_KINDS];
    if (blocks[kind].bytes >= bytes && blocks[kind].memory) return blocks[kind].memory;
    const size_t smallest = 64 * 1024;
    const size_t size = bytes * 2 > smallest ? bytes * 2 : smallest;
    void* memory = realloc(blocks[kind].memory, size);
    if (!memory) return NULL;
    blocks[kind].memory = memory;
    blocks[kind].bytes = size;
    return memory;
}

const uint64_t* request_values(int n, const MPI_Request* requests) {
    if (n < 0) return NULL;
    uint64_t* values = scratch(SCRATCH_HANDLES, (size_t)n * sizeof *values);
    for (int i = 0; values && i < n; i++) values[i] = request_value(requests[i]);
    return values;
}

MPI_Status* status_scratch(int n) {
    MPI_Status* statuses = n < 0 ? NULL : scratch(SCRATCH_STATUSES, (size_t)n * sizeof *statuses);
    return statuses ? statuses : MPI_STATUSES_IGNORE;
}

// The persistent requests, and those whose status means nothing: a hash table with open addressing; `request` 0 is a
// free slot. Most programs hardly touch it.
typedef struct {
    uint64_t request;
    int64_t made;  // when the call that made it ended
    bool active;
    bool once;  // not persistent; its status means nothing
} Slot;

static struct {
    Slot* slots;
    size_t capacity;  // a power of two, or 0
    size_t count;
} table;

static size_t home(uint64_t request) {
    return (size_t)((request * 0x9e3779b97f4a7c15U) >> 32) & (table.capacity - 1);
}

static size_t next(size_t i) {
    return (i + 1) & (table.capacity - 1);
}

// The request of this handle that a call means which began at `begin`.
static Slot* find(uint64_t request, int64_t begin) {
    if (table.count == 0) return NULL;
    Slot* found = NULL;
    for (size_t i = home(request); table.slots[i].request != 0; i = next(i)) {
        Slot* slot = &table.slots[i];
        const bool meant = slot->request == request && slot->made <= begin;
        if (meant && (!found || slot->made > found->made)) found = slot;
    }
    return found;
}

static void insert(Slot slot) {
    size_t i = home(slot.request);
    while (table.slots[i].request != 0) i = next(i);
    table.slots[i] = slot;
    table.count++;
}

static bool enlarge(void) {
    Slot* old = table.slots;
    const size_t capacity = table.capacity;
    const size_t larger = capacity ? capacity * 2 : 64;
    Slot* slots = calloc(larger, sizeof *slots);
    if (!slots) return false;
    table.slots = slots;
    table.capacity = larger;
    table.count = 0;
    for (size_t i = 0; i < capacity; i++) {
        if (old[i].request != 0) insert(old[i]);
    }
    free(old);
    return true;
}

static void add(Slot slot) {
    Slot* known = find(slot.request, slot.made);
    if (known && !known->once) {  // its end was not seen, as it is recorded before another request gets the handle
        *known = slot;
        return;
    }
    if (table.count * 2 >= table.capacity && !enlarge()) return;
    insert(slot);
}

void persistent_add(uint64_t request, int64_t made) {
    add((Slot){.request = request, .made = made});
}

void persistent_start(uint64_t request, int64_t begin) {
    Slot* slot = find(request, begin);
    if (slot) slot->active = true;
}

static void take_out(Slot* slot) {
    slot->request = 0;
    table.count--;
    // Slots behind it may be there because their own place was taken: they are inserted again.
    for (size_t i = next((size_t)(slot - table.slots)); table.slots[i].request != 0; i = next(i)) {
        const Slot moved = table.slots[i];
        table.slots[i].request = 0;
        table.count--;
        insert(moved);
    }
}

void persistent_remove(uint64_t request, int64_t begin) {
    Slot* slot = find(request, begin);
    if (slot) take_out(slot);
}

void status_means_nothing(uint64_t request, int64_t made) {
    add((Slot){.request = request, .made = made, .once = true});
}

bool request_completes(uint64_t request, int64_t begin, bool* has_status) {
    Slot* slot = find(request, begin);
    *has_status = !slot || !slot->once;
    if (!slot) return true;
    if (slot->once) {
        take_out(slot);
        return true;
    }
    const bool active = slot->active;
    slot->active = false;
    return active;
}
