/* What both load tools need: one clock, a growing buffer, a histogram of 1 % steps. C11, Linux. */
#ifndef STANCHION_BENCH_COMMON_H
#define STANCHION_BENCH_COMMON_H

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static inline void die(const char *what) {
    perror(what);
    exit(1);
}

/* bytes from `start` to `end` are not yet used */
typedef struct {
    char *data;
    size_t start, end, room;
} buffer;

static inline size_t buffered(const buffer *b) { return b->end - b->start; }

static inline char *buffer_room(buffer *b, size_t wanted) {
    if (b->start == b->end) b->start = b->end = 0;
    if (b->room - b->end < wanted) {
        if (b->start) {
            memmove(b->data, b->data + b->start, buffered(b));
            b->end -= b->start;
            b->start = 0;
        }
        if (b->room - b->end < wanted) {
            b->room = (b->end + wanted) * 2;
            b->data = realloc(b->data, b->room);
            if (!b->data) die("realloc");
        }
    }
    return b->data + b->end;
}

static inline void buffer_put(buffer *b, const char *data, size_t length) {
    memcpy(buffer_room(b, length), data, length);
    b->end += length;
}

/* 0 = all is written, 1 = the other end takes no more now, -1 = it is gone */
static inline int buffer_flush(buffer *b, int fd) {
    while (buffered(b)) {
        ssize_t n = send(fd, b->data + b->start, buffered(b), MSG_NOSIGNAL);
        if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? 1 : -1;
        b->start += (size_t)n;
    }
    return 0;
}

/* times in logarithmic steps of 1 %, from 1 us up */
#define STEPS 2400
typedef struct {
    uint64_t count[STEPS], total;
} histogram;

static inline void histogram_add(histogram *h, uint64_t ns) {
    double us = (double)ns / 1000.0;
    int step = us <= 1.0 ? 0 : (int)(log(us) * 100.0);
    h->count[step < STEPS ? step : STEPS - 1]++;
    h->total++;
}

/* in milliseconds; -1 = nothing was counted */
static inline double histogram_at(const histogram *h, double share) {
    uint64_t rank = (uint64_t)(share * (double)h->total), seen = 0;
    if (!h->total) return -1.0;
    for (int step = 0; step < STEPS; step++) {
        seen += h->count[step];
        if (seen > rank) return exp((step + 0.5) / 100.0) / 1000.0;
    }
    return exp(STEPS / 100.0) / 1000.0;
}

#endif
