// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: write without end, in the way that argv[1] names: "lines" on stdout (also
// without a word), "errors" on stderr, "both", "line" (one that never ends), "zeros", "broken"
// (bytes that are no text).
// Expected: the output limit ends it, and the supervisor's memory stays small.
#include <string.h>
#include <unistd.h>

static char block[1 << 16];

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "lines";
  if (write(1, "armed\n", 6) != 6) return 1;
  memset(block,
         strcmp(way, "zeros") == 0    ? 0
         : strcmp(way, "broken") == 0 ? 0xff
                                      : 'y',
         sizeof block);
  if (strcmp(way, "line") != 0) block[sizeof block - 1] = '\n';
  const int first = strcmp(way, "errors") == 0 ? 2 : 1;
  const int second = strcmp(way, "both") == 0 ? 2 : first;
  for (;;) {
    if (write(first, block, sizeof block) < 0) return 1;
    if (write(second, block, sizeof block) < 0) return 1;
  }
}
