/* The least that a one-shot process can do: reads stdin to its end and answers. */
#include <unistd.h>

static char block[65536];

int main(void) {
  static const char reply[] = "{\"result\": {\"ok\": true}}\n";
  while (read(0, block, sizeof block) > 0) {
  }
  return write(1, reply, sizeof reply - 1) == (ssize_t)(sizeof reply - 1) ? 0 : 1;
}
