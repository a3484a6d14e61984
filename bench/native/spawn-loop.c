/*
 * spawn-loop TOTAL AT_ONCE MEGABYTES REQUEST PROGRAM [ARG...]
 * The minimal cost of a one-shot call: posix_spawn with three pipes, write the request, read both outputs to the end,
 * wait for the exit, in one thread with one poll. Touches MEGABYTES of memory before it starts. Prints one line of JSON.
 * Exits with 1 if a child fails or prints nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct call {
  pid_t pid;
  int out, err;
  size_t replied;
};

static char block[65536];
static const char *request;
static char **program;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double cpu_of(int whom) {
  struct rusage usage;
  getrusage(whom, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* On Linux, ru_maxrss includes the memory before exec; VmHWM does not. */
static double peak_mb(void) {
#ifdef __APPLE__
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1048576;
#else
  char line[256];
  long kilobytes = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmHWM: %ld", &kilobytes) == 1) break;
  }
  if (status != NULL) fclose(status);
  return (double)kilobytes / 1024;
#endif
}

/* Opens a pipe that child processes do not inherit. */
static void open_pipe(int ends[2]) {
#ifdef __linux__
  if (pipe2(ends, O_CLOEXEC) != 0) die("pipe2");
#else
  if (pipe(ends) != 0) die("pipe");
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#endif
}

static void start(struct call *call) {
  int in[2], out[2], err[2];
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  open_pipe(in);
  open_pipe(out);
  open_pipe(err);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  errno = posix_spawnp(&call->pid, program[0], &actions, &attributes, program, environ);
  if (errno != 0) die("posix_spawn");
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(in[0]);
  close(out[1]);
  close(err[1]);
  /* EPIPE is allowed, because a child may exit without reading. A request fits into the pipe buffer. */
  if (write(in[1], request, strlen(request)) < 0 && errno != EPIPE) die("write");
  close(in[1]);
  call->out = out[0];
  call->err = err[0];
  call->replied = 0;
}

/* Reads what there is; closes the descriptor at its end and forgets it. */
static size_t drain(int *from) {
  ssize_t count = read(*from, block, sizeof block);
  if (count > 0) return (size_t)count;
  close(*from);
  *from = -1;
  return 0;
}

static void finish(struct call *call) {
  int status;
  if (waitpid(call->pid, &status, 0) < 0) die("waitpid");
  if (status != 0 || call->replied == 0) {
    fprintf(stderr, "%s ended with status %d after %zu bytes\n", program[0], status, call->replied);
    exit(1);
  }
}

/* Does `total` calls, `at_once` at a time. */
static void run(long total, int at_once) {
  struct call *calls = calloc((size_t)at_once, sizeof *calls);
  struct pollfd *polled = calloc((size_t)at_once * 2, sizeof *polled);
  if (calls == NULL || polled == NULL) die("calloc");
  long started = 0, done = 0;
  for (int at = 0; at < at_once; at++) {
    calls[at].out = calls[at].err = -1;
    if (started < total) {
      start(&calls[at]);
      started++;
    }
  }
  while (done < total) {
    for (int at = 0; at < at_once; at++) {
      polled[at * 2] = (struct pollfd){.fd = calls[at].out, .events = POLLIN};
      polled[at * 2 + 1] = (struct pollfd){.fd = calls[at].err, .events = POLLIN};
    }
    if (poll(polled, (nfds_t)at_once * 2, -1) < 0) die("poll");
    for (int at = 0; at < at_once; at++) {
      struct call *call = &calls[at];
      if (call->out < 0 && call->err < 0) continue;
      if (polled[at * 2].revents != 0) call->replied += drain(&call->out);
      if (polled[at * 2 + 1].revents != 0) drain(&call->err);
      if (call->out >= 0 || call->err >= 0) continue;
      finish(call);
      done++;
      if (started < total) {
        start(call);
        started++;
      }
    }
  }
  free(polled);
  free(calls);
}

int main(int count, char **words) {
  if (count < 6) {
    fprintf(stderr, "usage: spawn-loop TOTAL AT_ONCE MEGABYTES REQUEST PROGRAM [ARG...]\n");
    return 2;
  }
  long total = atol(words[1]);
  int at_once = atoi(words[2]);
  size_t resident = (size_t)atol(words[3]) << 20;
  request = words[4];
  program = words + 5;
  signal(SIGPIPE, SIG_IGN);
  char *ballast = resident == 0 ? NULL : malloc(resident);
  if (ballast != NULL) memset(ballast, 1, resident);
  double begun = now(), cpu = cpu_of(RUSAGE_SELF);
  run(total, at_once);
  double seconds = now() - begun;
  /* The ballast is looked at once more, so that no compiler leaves it out. */
  printf("{\"calls\": %ld, \"per_second\": %.1f, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"children_cpu_seconds\": %.6f, "
         "\"peak_mb\": %.1f, \"ballast\": %d}\n",
         total, (double)total / seconds, seconds, cpu_of(RUSAGE_SELF) - cpu, cpu_of(RUSAGE_CHILDREN), peak_mb(),
         ballast == NULL ? 0 : ballast[resident / 2]);
  return 0;
}
