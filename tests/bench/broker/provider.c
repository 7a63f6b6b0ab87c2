/* A provider for the bench: OpenAI chat completions on loopback, one thread, epoll, a heap of timers.

   provider PORT

   The request's model says what to answer: "bench-DELAY-CHUNKS-INTERVAL-BYTES" (milliseconds,
   milliseconds, bytes of text). A stream carries in every chunk the time at which it was written
   ("@T<ns>@", CLOCK_MONOTONIC), so that its reader on the same machine knows each chunk's lag,
   whatever the timers did. Connections are kept alive. It checks nothing: the figures of the
   proxies before it would be worth nothing if it did any work. */
#define _GNU_SOURCE
#include "common.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>

#define MAX_FDS 65536
#define MAX_TEXT 65536
#define MAX_TIMERS 65536
#define READ_BYTES 65536

typedef struct {
    int fd, generation, answering, streaming, begun;
    int delay_ms, chunks, interval_ms, text_bytes, sent;
    uint64_t due;
    buffer in, out;
} connection;

typedef struct {
    uint64_t due;
    int fd, generation;
} timer;

static connection *connections[MAX_FDS];
static timer heap[MAX_TIMERS];
static int timers, poll_fd, generations;
static char text[MAX_TEXT];

/* what models write, so that whatever looks at each event meets the letters that it meets in use */
static const char prose[] =
    "I will read the failing test first, then the module that it covers. The parser drops the last "
    "row when the file has no line end, so `rows.append(row)` is never reached for it. Two changes "
    "are needed: return early for an empty file, and flush what is left after the loop. Let me run "
    "the suite again with `pytest -q tests/test_parse.py` to see whether both cases pass now. All "
    "12 tests pass; the diff is small and the behaviour for CRLF files stays as it was. ";

static void timer_push(uint64_t due, int fd, int generation) {
    int place = timers++;
    if (timers >= MAX_TIMERS) {
        fprintf(stderr, "too many timers\n");
        exit(1);
    }
    while (place && heap[(place - 1) / 2].due > due) {
        heap[place] = heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap[place] = (timer){due, fd, generation};
}

static timer timer_pop(void) {
    timer first = heap[0], last = heap[--timers];
    int place = 0;
    for (;;) {
        int child = 2 * place + 1;
        if (child >= timers) break;
        if (child + 1 < timers && heap[child + 1].due < heap[child].due) child++;
        if (heap[child].due >= last.due) break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = last;
    return first;
}

static void drop(connection *c) {
    close(c->fd);
    connections[c->fd] = NULL;
    free(c->in.data);
    free(c->out.data);
    free(c);
}

static void put_text(buffer *b, const char *words) { buffer_put(b, words, strlen(words)); }

static void put_chunk(buffer *b, const char *data, int length) {
    char head[16];
    buffer_put(b, head, (size_t)sprintf(head, "%x\r\n", (unsigned)length));
    buffer_put(b, data, (size_t)length);
    buffer_put(b, "\r\n", 2);
}

#define EVENT "data: {\"id\":\"chatcmpl-0123456789abcdef\",\"object\":\"chat.completion.chunk\"," \
              "\"created\":1700000000,\"model\":\"bench\",\"choices\":["

static void begin(connection *c) {
    c->begun = 1;
    put_text(&c->out, "HTTP/1.1 200 OK\r\nx-request-id: req_bench\r\n");
    if (c->streaming)
        put_text(&c->out, "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
}

static void put_whole(connection *c) {
    static char body[MAX_TEXT + 1024];
    char head[128];
    int length = sprintf(body,
                         "{\"id\":\"chatcmpl-0\",\"object\":\"chat.completion\",\"model\":\"bench\","
                         "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
                         "\"%.*s\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":10,"
                         "\"completion_tokens\":5,\"total_tokens\":15}}",
                         c->text_bytes, text);
    begin(c);
    buffer_put(&c->out, head,
               (size_t)sprintf(head, "content-type: application/json\r\ncontent-length: %d\r\n\r\n",
                               length));
    buffer_put(&c->out, body, (size_t)length);
}

/* the next chunk; 1 = it was the last one */
static int put_next(connection *c) {
    static char event[MAX_TEXT + 1024];
    int length = sprintf(event,
                         EVENT "{\"index\":0,\"delta\":{\"content\":\"@T%llu@%.*s%s\"},"
                               "\"finish_reason\":null}]}\n\n",
                         (unsigned long long)now_ns(), c->text_bytes,
                         text + (unsigned)(c->sent * 7 + c->fd) % (sizeof prose - 1),
                         c->sent % 5 == 4 ? "\\n" : ""); /* texts have lines */
    put_chunk(&c->out, event, length);
    if (++c->sent < c->chunks) return 0;
    length = sprintf(event, EVENT "{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n");
    put_chunk(&c->out, event, length);
    length = sprintf(event,
                     EVENT "],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":%d,"
                           "\"total_tokens\":%d}}\n\n",
                     c->chunks, c->chunks + 10);
    put_chunk(&c->out, event, length);
    put_chunk(&c->out, "data: [DONE]\n\n", 14);
    buffer_put(&c->out, "0\r\n\r\n", 5);
    return 1;
}

/* what is due now; -1 = the connection is gone */
static int advance(connection *c) {
    if (!c->streaming) {
        put_whole(c);
        c->answering = 0;
    } else {
        if (!c->begun) begin(c);
        if (put_next(c)) {
            c->answering = 0;
        } else {
            c->due += (uint64_t)c->interval_ms * 1000000ull;
            timer_push(c->due, c->fd, c->generation);
        }
    }
    return buffer_flush(&c->out, c->fd) < 0 ? -1 : 0;
}

static int understand(connection *c, const char *body, size_t length) {
    const char *model = memmem(body, length < 4096 ? length : 4096, "\"bench-", 7);
    c->delay_ms = c->interval_ms = c->sent = c->begun = 0;
    c->chunks = 1;
    c->text_bytes = 100;
    if (model)
        sscanf(model + 7, "%d-%d-%d-%d", &c->delay_ms, &c->chunks, &c->interval_ms, &c->text_bytes);
    if (c->text_bytes > MAX_TEXT - (int)sizeof prose) c->text_bytes = MAX_TEXT - (int)sizeof prose;
    c->streaming = memmem(body, length < 4096 ? length : 4096, "\"stream\":true", 13) != NULL;
    c->answering = 1;
    c->generation = ++generations;
    c->due = now_ns() + (uint64_t)c->delay_ms * 1000000ull;
    if (c->delay_ms == 0) return advance(c);
    timer_push(c->due, c->fd, c->generation);
    return 0;
}

/* requests that have come whole; -1 = the connection is gone */
static int serve(connection *c) {
    while (!c->answering) {
        char *start = c->in.data + c->in.start;
        char *end = buffered(&c->in) ? memmem(start, buffered(&c->in), "\r\n\r\n", 4) : NULL;
        size_t length = 0, head;
        if (!end) return 0;
        head = (size_t)(end - start) + 4;
        for (char *line = start; line < end; line++)
            if (*line == '\n' && !strncasecmp(line + 1, "content-length:", 15))
                length = strtoul(line + 16, NULL, 10);
        if (buffered(&c->in) < head + length) return 0;
        c->in.start += head + length;
        if (understand(c, start + head, length) < 0) return -1;
    }
    return 0;
}

static int read_more(connection *c) {
    for (;;) {
        ssize_t n = recv(c->fd, buffer_room(&c->in, READ_BYTES), READ_BYTES, 0);
        if (n == 0) return -1;
        if (n < 0) return errno == EAGAIN ? serve(c) : -1;
        c->in.end += (size_t)n;
        if (n < READ_BYTES) return serve(c);
    }
}

static void accept_all(int listener) {
    int one = 1, fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        connection *c = calloc(1, sizeof *c);
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = fd};
        if (fd >= MAX_FDS || !c) {
            close(fd);
            free(c);
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        c->fd = fd;
        connections[fd] = c;
        epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event);
    }
}

static void run_timers(void) {
    while (timers && heap[0].due <= now_ns()) {
        timer t = timer_pop();
        connection *c = connections[t.fd];
        if (!c || c->generation != t.generation || !c->answering) continue;
        if (advance(c) < 0 || (!c->answering && serve(c) < 0)) drop(c);
    }
}

static void until_something(struct epoll_event *events, int room, int *found) {
    struct timespec wait, *until = NULL;
    if (timers) {
        uint64_t now = now_ns(), left = heap[0].due > now ? heap[0].due - now : 0;
        wait = (struct timespec){(time_t)(left / 1000000000ull), (long)(left % 1000000000ull)};
        until = &wait;
    }
    *found = epoll_pwait2(poll_fd, events, room, until, NULL);
}

int main(int argc, char **argv) {
    struct sockaddr_in place = {.sin_family = AF_INET};
    struct epoll_event events[512], event = {.events = EPOLLIN};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1, found;
    if (argc != 2) {
        fprintf(stderr, "usage: provider PORT\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof text; i++) text[i] = prose[i % (sizeof prose - 1)];
    signal(SIGPIPE, SIG_IGN);
    place.sin_port = htons((uint16_t)atoi(argv[1]));
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&place, sizeof place) || listen(listener, 4096))
        die("listen");
    poll_fd = epoll_create1(0);
    event.data.fd = listener;
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, listener, &event);
    puts("ready");
    fflush(stdout);
    for (;;) {
        run_timers();
        until_something(events, 512, &found);
        for (int i = 0; i < found; i++) {
            connection *c = connections[events[i].data.fd];
            if (events[i].data.fd == listener) {
                accept_all(listener);
                continue;
            }
            if (!c) continue;
            if ((events[i].events & EPOLLOUT) && buffer_flush(&c->out, c->fd) < 0) {
                drop(c);
                continue;
            }
            if ((events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && read_more(c) < 0) drop(c);
        }
    }
}
