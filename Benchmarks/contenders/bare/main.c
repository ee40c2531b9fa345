// SPDX-License-Identifier: Apache-2.0

// The least that one signature with a durable record can cost: a floor to compare with, and nothing to run.
//
// Two event loops (epoll), one thread that commits what waits to SQLite, one row of some 640 bytes for each signature,
// durable (write-ahead log, synchronous=FULL) before the signature is made. Requests are scanned for four strings and one
// header, in the form in which the load generator sends them; whatever else HTTP and JSON allow is not understood.
// No rules, caps, index, tamper evidence, limits or timeouts.
//
// Usage: bare PORT KEY_FILE API_KEY_FILE DATABASE_FILE

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LOOPS = 2, REQUEST_BYTES = 4096, ENTRY_BYTES = 640 };

#define KEY_ID "ABC123DEFG"
#define SEPARATOR "\xE2\x81\xA3"

struct loop;

/// A connection with at most one request under way, and that request.
struct connection {
    int socket;
    struct loop *loop;
    struct connection *next;
    /// Whether the request under way waits for its record, and whether the client has gone meanwhile.
    int is_waiting, is_gone;
    size_t length;
    char bytes[REQUEST_BYTES];
    char bundle[128], product[128], offer[128], token[40], nonce[40];
    long long timestamp;
    char entry[ENTRY_BYTES];
};

/// What passes between threads: pushed one by one, taken all at once.
struct list {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    struct connection *first, **last;
};

struct loop {
    int epoll, listener, wake;
    struct list done;
    EVP_MD_CTX *context;
};

static struct loop loops[LOOPS];
static struct list waiting;
static char authorization[256];
static EVP_PKEY *key;
static sqlite3 *database;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void start_list(struct list *list) {
    pthread_mutex_init(&list->mutex, NULL);
    pthread_cond_init(&list->filled, NULL);
    list->first = NULL;
    list->last = &list->first;
}

static void push_all(struct list *list, struct connection *first, struct connection **last) {
    pthread_mutex_lock(&list->mutex);
    *list->last = first;
    list->last = last;
    pthread_cond_signal(&list->filled);
    pthread_mutex_unlock(&list->mutex);
}

static struct connection *take_all(struct list *list, int sleeps) {
    pthread_mutex_lock(&list->mutex);
    while (sleeps && !list->first) pthread_cond_wait(&list->filled, &list->mutex);
    struct connection *first = list->first;
    list->first = NULL;
    list->last = &list->first;
    pthread_mutex_unlock(&list->mutex);
    return first;
}

// MARK: - The request and its answer

/// Copies what is between quotes after `name`; 0 if it is not there or too long.
static int member(const char *body, const char *name, char *to, size_t size) {
    const char *found = strstr(body, name);
    if (!found || !(found = strchr(found + strlen(name), '"'))) return 0;
    const char *end = strchr(++found, '"');
    if (!end || (size_t)(end - found) >= size) return 0;
    memcpy(to, found, end - found);
    to[end - found] = 0;
    return 1;
}

static void make_nonce(char *to) {
    static __thread unsigned char pool[4096];
    static __thread size_t used = sizeof pool;
    if (used + 16 > sizeof pool) {
        if (getrandom(pool, sizeof pool, 0) != sizeof pool) fail("getrandom");
        used = 0;
    }
    unsigned char *b = pool + used;
    used += 16;
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
        *to++ = "0123456789abcdef"[b[i] >> 4];
        *to++ = "0123456789abcdef"[b[i] & 15];
    }
    *to = 0;
}

enum reading { INCOMPLETE, WRONG, COMPLETE };

/// Reads the request if all of it is there, and makes its row for the log.
static enum reading read_request(struct connection *c) {
    c->bytes[c->length] = 0;
    char *body = strstr(c->bytes, "\r\n\r\n");
    const char *length = strcasestr(c->bytes, "\r\ncontent-length:");
    const char *given = strcasestr(c->bytes, "\r\nauthorization: ");
    if (!body) return c->length < REQUEST_BYTES - 1 ? INCOMPLETE : WRONG;
    if (!length || !given) return WRONG;
    body += 4;
    if (c->length - (size_t)(body - c->bytes) < strtoul(length + 17, NULL, 10))
        return c->length < REQUEST_BYTES - 1 ? INCOMPLETE : WRONG;
    if (CRYPTO_memcmp(given + 17, authorization, strlen(authorization))) return WRONG;
    if (!member(body, "\"bundleId\"", c->bundle, sizeof c->bundle)
        || !member(body, "\"productId\"", c->product, sizeof c->product)
        || !member(body, "\"offerId\"", c->offer, sizeof c->offer)
        || !member(body, "\"appAccountToken\"", c->token, sizeof c->token)) return WRONG;
    for (char *p = c->token; *p; p++) *p |= 0x20;
    make_nonce(c->nonce);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    c->timestamp = now.tv_sec * 1000LL + now.tv_nsec / 1000000;
    memset(c->entry, ' ', ENTRY_BYTES);
    snprintf(c->entry, ENTRY_BYTES, "{\"bundleId\":\"%s\",\"offerId\":\"%s\",\"nonce\":\"%s\",\"timestamp\":%lld}",
        c->bundle, c->offer, c->nonce, c->timestamp);
    return COMPLETE;
}

static void answer(struct connection *c) {
    char text[1024], base64[128], out[2048], body[1024];
    unsigned char signature[80];
    size_t size = sizeof signature;
    int length = snprintf(text, sizeof text, "%s" SEPARATOR KEY_ID SEPARATOR "%s" SEPARATOR "%s" SEPARATOR "%s" SEPARATOR
        "%s" SEPARATOR "%lld", c->bundle, c->product, c->offer, c->token, c->nonce, c->timestamp);
    if (EVP_DigestSignInit(c->loop->context, NULL, NULL, NULL, NULL) != 1
        || EVP_DigestSign(c->loop->context, signature, &size, (unsigned char *)text, length) != 1) fail("sign");
    EVP_EncodeBlock((unsigned char *)base64, signature, size);
    int n = snprintf(body, sizeof body, "{\"identifier\":\"%s\",\"keyIdentifier\":\"" KEY_ID "\",\"nonce\":\"%s\","
        "\"timestamp\":%lld,\"signature\":\"%s\",\"appAccountToken\":\"%s\"}", c->offer, c->nonce, c->timestamp, base64, c->token);
    int total = snprintf(out, sizeof out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", n, body);
    c->length = 0;
    c->is_waiting = 0;
    if (send(c->socket, out, total, MSG_NOSIGNAL) != total) shutdown(c->socket, SHUT_RDWR);
}

// MARK: - The threads

static void statement(const char *sql) {
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) fail(sqlite3_errmsg(database));
}

static sqlite3_stmt *prepared(const char *sql) {
    sqlite3_stmt *made = NULL;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &made, NULL)) fail(sqlite3_errmsg(database));
    return made;
}

/// Commits what waits, again and again.
static void *commit(void *unused) {
    sqlite3_stmt *begin = prepared("BEGIN IMMEDIATE"), *end = prepared("COMMIT");
    sqlite3_stmt *insert = prepared("INSERT INTO entries (entry) VALUES (?)");
    for (;;) {
        struct connection *next = take_all(&waiting, 1);
        sqlite3_step(begin);
        sqlite3_reset(begin);
        for (struct connection *c = next; c; c = c->next) {
            sqlite3_bind_blob(insert, 1, c->entry, ENTRY_BYTES, SQLITE_STATIC);
            if (sqlite3_step(insert) != SQLITE_DONE) fail(sqlite3_errmsg(database));
            sqlite3_reset(insert);
        }
        if (sqlite3_step(end) != SQLITE_DONE) fail(sqlite3_errmsg(database));
        sqlite3_reset(end);
        struct connection *first[LOOPS] = {0}, **last[LOOPS];
        for (int i = 0; i < LOOPS; i++) last[i] = &first[i];
        for (struct connection *c = next; c; c = next) {
            int i = (int)(c->loop - loops);
            next = c->next;
            c->next = NULL;
            *last[i] = c;
            last[i] = &c->next;
        }
        for (int i = 0; i < LOOPS; i++) {
            if (!first[i]) continue;
            push_all(&loops[i].done, first[i], last[i]);
            if (eventfd_write(loops[i].wake, 1)) fail("eventfd");
        }
    }
    return unused;
}

static void accept_one(struct loop *loop) {
    int one = 1, socket = accept4(loop->listener, NULL, NULL, SOCK_NONBLOCK);
    if (socket < 0) return;
    struct connection *c = calloc(1, sizeof *c);
    if (!c) fail("calloc");
    *c = (struct connection){.socket = socket, .loop = loop};
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, socket, &event)) fail("epoll_ctl");
}

static void end(struct connection *c) {
    close(c->socket);
    free(c);
}

/// Receives what is there; whether that makes a request.
static int receive(struct connection *c) {
    ssize_t n = recv(c->socket, c->bytes + c->length, REQUEST_BYTES - 1 - c->length, 0);
    if (c->is_waiting) {
        // Whoever says anything before the answer is not heard any more, and freed when the record is there.
        c->is_gone = 1;
        epoll_ctl(c->loop->epoll, EPOLL_CTL_DEL, c->socket, NULL);
        return 0;
    }
    c->length += n > 0 ? n : 0;
    enum reading reading = n > 0 ? read_request(c) : WRONG;
    if (reading == WRONG) end(c);
    if (reading == COMPLETE) c->is_waiting = 1;
    return reading == COMPLETE;
}

static void *run(void *argument) {
    struct loop *loop = argument;
    struct epoll_event events[128];
    for (;;) {
        int count = epoll_wait(loop->epoll, events, 128, -1), is_woken = 0;
        struct connection *first = NULL, **last = &first;
        for (int i = 0; i < count; i++) {
            struct connection *c = events[i].data.ptr;
            if ((void *)c == &loop->listener) accept_one(loop);
            else if ((void *)c == &loop->wake) is_woken = 1;
            else if (receive(c)) {
                c->next = NULL;
                *last = c;
                last = &c->next;
            }
        }
        if (first) push_all(&waiting, first, last);
        if (!is_woken) continue;
        eventfd_t value;
        eventfd_read(loop->wake, &value);
        struct connection *next = take_all(&loop->done, 0);
        for (struct connection *c = next; c; c = next) {
            next = c->next;
            if (c->is_gone) end(c);
            else answer(c);
        }
    }
    return NULL;
}

static void watch(struct loop *loop, int file, void *tag) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = tag};
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, file, &event)) fail("epoll_ctl");
}

static void start_loop(struct loop *loop, int port) {
    int one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    start_list(&loop->done);
    loop->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(loop->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(loop->listener, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
    if (bind(loop->listener, (struct sockaddr *)&address, sizeof address) || listen(loop->listener, 1024)) fail("listen");
    loop->epoll = epoll_create1(0);
    loop->wake = eventfd(0, EFD_NONBLOCK);
    loop->context = EVP_MD_CTX_new();
    if (EVP_DigestSignInit_ex(loop->context, NULL, "SHA256", NULL, NULL, key, NULL) != 1) fail("key");
    watch(loop, loop->listener, &loop->listener);
    watch(loop, loop->wake, &loop->wake);
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: bare PORT KEY_FILE API_KEY_FILE DATABASE_FILE\n");
        return 2;
    }
    FILE *file = fopen(arguments[2], "r");
    if (!file || !(key = PEM_read_PrivateKey(file, NULL, NULL, NULL))) fail(arguments[2]);
    fclose(file);
    if (!(file = fopen(arguments[3], "r"))) fail(arguments[3]);
    if (fscanf(file, "%200s", authorization + sprintf(authorization, "Bearer ")) != 1) fail(arguments[3]);
    fclose(file);
    // A longer key is another one.
    strcat(authorization, "\r\n");
    if (sqlite3_open_v2(arguments[4], &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
        fail(arguments[4]);
    statement("PRAGMA journal_mode=WAL");
    statement("PRAGMA synchronous=FULL");
    statement("CREATE TABLE IF NOT EXISTS entries (entry_index INTEGER PRIMARY KEY, entry BLOB NOT NULL)");
    start_list(&waiting);
    for (int i = 0; i < LOOPS; i++) start_loop(&loops[i], atoi(arguments[1]));
    pthread_t thread;
    pthread_create(&thread, NULL, commit, NULL);
    for (int i = 1; i < LOOPS; i++) pthread_create(&thread, NULL, run, &loops[i]);
    run(&loops[0]);
}
