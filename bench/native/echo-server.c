/*
 * A JSON-RPC server with minimal overhead. The result of a request is its `params.args`; for a filter (`params.hook`),
 * {"allow": true}; for an eval (`params.type`), {"score": 1}; otherwise null. Reads large blocks, and sends all replies
 * to one block in one write. An argument is the CPU time, in microseconds, that it uses for each request; it then sends
 * each reply by itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct buffer {
  char *bytes;
  size_t length, size;
};

/* A section of a line. */
struct span {
  const char *from, *to;
};

static void reserve(struct buffer *buffer, size_t more) {
  if (buffer->length + more <= buffer->size) return;
  while (buffer->size < buffer->length + more) buffer->size = buffer->size == 0 ? 1 << 20 : buffer->size * 2;
  buffer->bytes = realloc(buffer->bytes, buffer->size);
  if (buffer->bytes == NULL) exit(1);
}

static void append(struct buffer *buffer, const char *from, size_t length) {
  reserve(buffer, length);
  memcpy(buffer->bytes + buffer->length, from, length);
  buffer->length += length;
}

static const char *skip_space(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
  return at;
}

/* Returns the position after the closing quote. */
static const char *skip_string(const char *at, const char *end) {
  const char *begun = ++at;
  while ((at = memchr(at, '"', (size_t)(end - at))) != NULL) {
    const char *back = at;
    while (back > begun && back[-1] == '\\') back--;
    at++;
    if ((at - 1 - back) % 2 == 0) return at;
  }
  return end;
}

static const char *skip_value(const char *at, const char *end) {
  int depth = 0;
  while (at < end) {
    if (*at == '"') {
      at = skip_string(at, end);
      if (depth == 0) return at;
      continue;
    }
    if (*at == '{' || *at == '[') depth++;
    if (*at == '}' || *at == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    }
    if (*at == ',' && depth == 0) return at;
    at++;
  }
  return end;
}

/* Finds the values of the named members of an object. */
static void find_members(struct span object, const char *const *names, struct span *found, int count) {
  const char *at = object.from, *end = object.to;
  if (at == NULL || at >= end || *at != '{') return;
  at = skip_space(at + 1, end);
  while (at < end && *at == '"') {
    const char *key = at + 1;
    at = skip_string(at, end);
    size_t length = (size_t)(at - 1 - key);
    at = skip_space(at, end);
    struct span value = {.from = skip_space(at + 1, end)};
    at = value.to = skip_value(value.from, end);
    for (int index = 0; index < count; index++) {
      if (strlen(names[index]) == length && memcmp(names[index], key, length) == 0) found[index] = value;
    }
    at = skip_space(at, end);
    if (at < end && *at == ',') at = skip_space(at + 1, end);
  }
}

static void answer(struct span line, struct buffer *replies) {
  static const char *const members[] = {"id", "params"}, *const params[] = {"args", "hook", "type"};
  struct span request[2] = {{0}}, asked[3] = {{0}};
  find_members(line, members, request, 2);
  if (request[0].from == NULL) return;
  find_members(request[1], params, asked, 3);
  append(replies, "{\"jsonrpc\":\"2.0\",\"id\":", 22);
  append(replies, request[0].from, (size_t)(request[0].to - request[0].from));
  append(replies, ",\"result\":", 10);
  if (asked[1].from != NULL) append(replies, "{\"allow\":true}", 14);
  else if (asked[2].from != NULL) append(replies, "{\"score\":1}", 11);
  else if (asked[0].from != NULL) append(replies, asked[0].from, (size_t)(asked[0].to - asked[0].from));
  else append(replies, "null", 4);
  append(replies, "}\n", 2);
}

static void write_all(struct buffer *replies) {
  for (size_t done = 0; done < replies->length;) {
    ssize_t count = write(1, replies->bytes + done, replies->length - done);
    if (count < 0) exit(0);
    done += (size_t)count;
  }
  replies->length = 0;
}

static long long cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void compute(long long ns) {
  const long long end = cpu_ns() + ns;
  while (cpu_ns() < end) continue;
}

int main(int argc, char **argv) {
  const long long work_ns = argc > 1 ? atoll(argv[1]) * 1000 : 0;
  struct buffer unread = {0}, replies = {0};
  for (;;) {
    reserve(&unread, 1 << 18);
    ssize_t count = read(0, unread.bytes + unread.length, unread.size - unread.length);
    if (count <= 0) return 0;
    /* Search only the new bytes for newlines. */
    const char *line = unread.bytes, *fresh = unread.bytes + unread.length;
    unread.length += (size_t)count;
    const char *end = unread.bytes + unread.length, *newline;
    while ((newline = memchr(fresh, '\n', (size_t)(end - fresh))) != NULL) {
      if (work_ns) compute(work_ns);
      answer((struct span){line, newline}, &replies);
      if (work_ns) write_all(&replies);
      line = fresh = newline + 1;
    }
    write_all(&replies);
    unread.length = (size_t)(end - line);
    memmove(unread.bytes, line, unread.length);
  }
}
