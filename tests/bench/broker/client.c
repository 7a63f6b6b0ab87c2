/* A load client for the bench: many requests at once, every byte of framing checked.

   client TARGETS CONNECTIONS EACH SECONDS RAMP_MS KEEP MODEL BODY_BYTES STREAM

   TARGETS is a file of lines "unix PATH TOKEN" or "tcp PORT TOKEN", used in turn. Each of CONNECTIONS
   places makes EACH requests one after the other (0 = until SECONDS are over), the first ones spread
   over RAMP_MS. KEEP = 1: over one connection; 0: a connection for each, as the relay in a sandbox
   does. It prints one line of JSON: counts, and quantiles in milliseconds of the lag of each chunk,
   of the time to the first chunk, and of whole requests. A wrong status, framing, number of chunks
   or end counts as an error; what is under way when SECONDS are over may still end. */
#define _GNU_SOURCE
#include "common.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/un.h>

#define MAX_TARGETS 512
#define READ_BYTES 262144
#define GRACE_NS 30000000000ull
#define RETRY_NS 1000000ull

typedef struct {
    struct sockaddr_storage place;
    socklen_t length;
    int family;
    char *request;
    size_t request_bytes;
} target;

enum part { HEAD, SIZE, DATA, DATA_END, LAST_END, WHOLE };

typedef struct {
    int fd, requests, head_bytes, lines, marks, done_letters, dones;
    enum part part;
    char head[8192];
    long left;
    int chunks, stamp_letters;
    size_t written;
    uint64_t stamp, started, start_at;
} place;

static target targets[MAX_TARGETS];
static place *places;
static int target_count, place_count, each, keep, streaming, expected_chunks, poll_fd, active;
static uint64_t until, finished, errors, wrong, chunks, bytes, refused;
static histogram lag, first, total;

static void add_target(const char *kind, const char *where, const char *token, const char *model,
                       int body_bytes) {
    target *t = &targets[target_count++];
    char *body = malloc((size_t)body_bytes + 1024), *words = malloc((size_t)body_bytes + 1);
    int length;
    memset(words, 'y', (size_t)body_bytes);
    for (int i = 60; i < body_bytes; i += 61) words[i] = ' ';
    words[body_bytes] = 0;
    length = sprintf(body,
                     "{\"model\":\"%s\",\"max_tokens\":128000,\"reasoning_effort\":\"max\",%s"
                     "\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}",
                     model, streaming ? "\"stream\":true," : "", words);
    t->request = malloc((size_t)length + 1024);
    t->request_bytes = (size_t)sprintf(t->request,
                                       "POST /v1/chat/completions HTTP/1.1\r\nhost: relay\r\n"
                                       "x-stanchion-lease: %s\r\nauthorization: Bearer placeholder"
                                       "\r\ncontent-type: application/json\r\n"
                                       "content-length: %d\r\n%s\r\n%s",
                                       token, length, keep ? "" : "connection: close\r\n", body);
    if (!strcmp(kind, "unix")) {
        struct sockaddr_un *un = (struct sockaddr_un *)&t->place;
        un->sun_family = AF_UNIX;
        snprintf(un->sun_path, sizeof un->sun_path, "%s", where);
        t->length = sizeof *un;
        t->family = AF_UNIX;
    } else {
        struct sockaddr_in *in = (struct sockaddr_in *)&t->place;
        in->sin_family = AF_INET;
        in->sin_port = htons((uint16_t)atoi(where));
        in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        t->length = sizeof *in;
        t->family = AF_INET;
    }
    free(body);
    free(words);
}

static target *target_of(const place *p) { return &targets[(p - places) % target_count]; }

static void write_on(place *p) {
    target *t = target_of(p);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)(p - places)};
    while (p->written < t->request_bytes) {
        ssize_t n = send(p->fd, t->request + p->written, t->request_bytes - p->written, MSG_NOSIGNAL);
        if (n < 0) {
            if (errno == EAGAIN || errno == ENOTCONN) event.events |= EPOLLOUT;
            break; /* an error shows when it is read */
        }
        p->written += (size_t)n;
    }
    epoll_ctl(poll_fd, EPOLL_CTL_MOD, p->fd, &event);
}

static void ask(place *p) {
    p->part = HEAD;
    p->head_bytes = p->chunks = p->stamp_letters = p->done_letters = p->dones = p->lines = 0;
    p->written = 0;
    p->started = now_ns();
    write_on(p);
}

static void start(place *p) {
    target *t = target_of(p);
    int one = 1;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.u32 = (uint32_t)(p - places)};
    p->fd = socket(t->family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (p->fd < 0) die("socket");
    if (t->family == AF_INET) setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(p->fd, (struct sockaddr *)&t->place, t->length) && errno != EINPROGRESS) {
        close(p->fd); /* a full backlog: the kernel says so at once for a Unix socket */
        p->fd = -1;
        refused++;
        p->start_at = now_ns() + RETRY_NS;
        return;
    }
    active++;
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, p->fd, &event);
    ask(p);
}

/* the place's request is over; with `open` its connection can take another one */
static void over(place *p, int good, int open) {
    uint64_t now = now_ns();
    int more;
    p->requests++;
    finished += (uint64_t)good;
    errors += (uint64_t)!good;
    if (good) histogram_add(&total, now - p->started);
    more = each ? p->requests < each : now < until;
    if (good && open && keep && more) {
        ask(p);
        return;
    }
    close(p->fd);
    p->fd = -1;
    active--;
    p->start_at = more ? now + (good ? 0 : 100 * RETRY_NS) : UINT64_MAX;
}

static int took_head(place *p) {
    char *length;
    p->head[p->head_bytes] = 0;
    if (strncmp(p->head, "HTTP/1.1 200 ", 13)) {
        if (errors < 3) fprintf(stderr, "%.200s\n", p->head);
        return 0;
    }
    length = strcasestr(p->head, "\r\ncontent-length:");
    if (length) {
        p->left = atol(length + 17);
        p->part = WHOLE;
    } else if (strcasestr(p->head, "\r\ntransfer-encoding: chunked")) {
        p->left = 0;
        p->part = SIZE;
    } else {
        return 0;
    }
    return 1;
}

/* looks for "@T<ns>@" and "[DONE]" in one letter of a body, whatever way it was cut */
static void look_at(place *p, char letter, uint64_t now) {
    static const char mark[] = "@T", end[] = "[DONE]";
    if (p->stamp_letters == 2) {
        if (letter >= '0' && letter <= '9') {
            p->stamp = p->stamp * 10 + (uint64_t)(letter - '0');
        } else {
            p->stamp_letters = 0;
            if (letter == '@') {
                if (!p->chunks++) histogram_add(&first, now - p->started);
                chunks++;
                histogram_add(&lag, now > p->stamp ? now - p->stamp : 0);
            }
        }
    } else if (letter == mark[p->stamp_letters]) {
        if (++p->stamp_letters == 2) p->stamp = 0;
    } else {
        p->stamp_letters = letter == mark[0];
    }
    if (letter == end[p->done_letters]) {
        if (!end[++p->done_letters]) {
            p->dones++;
            p->done_letters = 0;
        }
    } else {
        p->done_letters = letter == end[0];
    }
}

/* one letter; 0 = go on, 1 = the answer is whole, -1 = it is none */
static int take(place *p, char letter, uint64_t now) {
    switch (p->part) {
        case HEAD:
            if (p->head_bytes >= (int)sizeof p->head - 1) return -1;
            p->head[p->head_bytes++] = letter;
            if (letter == '\n' && p->head_bytes >= 4 &&
                !memcmp(p->head + p->head_bytes - 4, "\r\n\r\n", 4))
                return took_head(p) ? 0 : -1;
            return 0;
        case SIZE:
            if (letter == '\n') {
                p->part = p->left ? DATA : LAST_END;
            } else if (letter != '\r') {
                int digit = letter <= '9' ? letter - '0' : (letter | 32) - 'a' + 10;
                if (digit < 0 || digit > 15) return -1;
                p->left = p->left * 16 + digit;
            }
            return 0;
        case DATA:
            look_at(p, letter, now);
            if (--p->left == 0) p->part = DATA_END;
            return 0;
        case DATA_END:
            if (letter == '\n') {
                p->part = SIZE;
                p->left = 0;
            }
            return 0;
        case LAST_END:
            return letter == '\n';
        case WHOLE:
            return --p->left == 0;
    }
    return -1;
}

static void read_on(place *p) {
    static char data[READ_BYTES];
    ssize_t n = recv(p->fd, data, sizeof data, 0);
    uint64_t now = now_ns();
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
        over(p, 0, 0);
        return;
    }
    bytes += (uint64_t)n;
    for (ssize_t i = 0; i < n; i++) {
        int taken = take(p, data[i], now);
        if (taken == 0) continue;
        int right = taken > 0 && (!streaming || (p->chunks == expected_chunks && p->dones == 1));
        wrong += (uint64_t)(taken > 0 && !right);
        over(p, right, i + 1 == n);
        return;
    }
}

static void run(uint64_t grace) {
    struct epoll_event events[512];
    for (;;) {
        uint64_t now = now_ns();
        int left = 0;
        for (int i = 0; i < place_count; i++) {
            if (places[i].fd < 0 && places[i].start_at <= now && (each || now < until))
                start(&places[i]);
            left += places[i].fd >= 0 || (each && places[i].start_at != UINT64_MAX);
        }
        if (!left && (each || now >= until)) return;
        if (now > grace) return;
        int found = epoll_wait(poll_fd, events, 512, active < place_count ? 1 : 20);
        for (int i = 0; i < found; i++) {
            place *p = &places[events[i].data.u32];
            if (p->fd < 0) continue;
            if (events[i].events & EPOLLOUT) write_on(p);
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) read_on(p);
        }
    }
}

static void read_targets(const char *file, const char *model, int body_bytes) {
    char kind[8], where[108], token[256];
    FILE *lines = fopen(file, "r");
    if (!lines) die(file);
    while (fscanf(lines, "%7s %107s %255s", kind, where, token) == 3 && target_count < MAX_TARGETS)
        add_target(kind, where, token, model, body_bytes);
    fclose(lines);
    if (!target_count) {
        fprintf(stderr, "%s names no target\n", file);
        exit(2);
    }
}

int main(int argc, char **argv) {
    if (argc != 10) {
        fprintf(stderr, "usage: client TARGETS CONNECTIONS EACH SECONDS RAMP_MS KEEP MODEL "
                        "BODY_BYTES STREAM\n");
        return 2;
    }
    place_count = atoi(argv[2]);
    each = atoi(argv[3]);
    keep = atoi(argv[6]);
    streaming = atoi(argv[9]);
    sscanf(argv[7], "bench-%*d-%d", &expected_chunks);
    read_targets(argv[1], argv[7], atoi(argv[8]));
    signal(SIGPIPE, SIG_IGN);
    places = calloc((size_t)place_count, sizeof *places);
    poll_fd = epoll_create1(0);
    uint64_t began = now_ns(), ramp = (uint64_t)atoi(argv[5]) * 1000000ull;
    until = began + (uint64_t)(atof(argv[4]) * 1e9);
    for (int i = 0; i < place_count; i++) {
        places[i].fd = -1;
        places[i].start_at = began + ramp * (uint64_t)i / (uint64_t)place_count;
    }
    run(until + GRACE_NS);
    for (int i = 0; i < place_count; i++) errors += places[i].fd >= 0; /* never ended */
    printf("{\"finished\": %lu, \"errors\": %lu, \"wrong\": %lu, \"refused\": %lu, \"chunks\": %lu, "
           "\"bytes\": %lu, \"elapsed_s\": %.3f, \"lag_p50_ms\": %.3f, \"lag_p99_ms\": %.3f, "
           "\"lag_p999_ms\": %.3f, \"first_p50_ms\": %.3f, \"first_p99_ms\": %.3f, "
           "\"total_p50_ms\": %.3f, \"total_p99_ms\": %.3f}\n",
           finished, errors, wrong, refused, chunks, bytes, (double)(now_ns() - began) / 1e9,
           histogram_at(&lag, 0.5), histogram_at(&lag, 0.99), histogram_at(&lag, 0.999),
           histogram_at(&first, 0.5), histogram_at(&first, 0.99), histogram_at(&total, 0.5),
           histogram_at(&total, 0.99));
    return 0;
}
