// Preloaded: every 29th datagram that is sent is lost on its way; with DROPS_FROM, each of that length or more instead.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>

ssize_t send(int socket, const void* buffer, size_t length, int flags) {
    static int count = 0;
    ssize_t (*real)(int, const void*, size_t, int) =
        (ssize_t (*)(int, const void*, size_t, int))dlsym(RTLD_NEXT, "send");
    int type = 0;
    socklen_t size = sizeof type;
    getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size);
    const char* from = getenv("DROPS_FROM");
    int lost = from ? length >= strtoul(from, NULL, 10) : type == SOCK_DGRAM && ++count % 29 == 0;
    if (type == SOCK_DGRAM && lost) return (ssize_t)length;
    return real(socket, buffer, length, flags);
}
