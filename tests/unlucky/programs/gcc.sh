#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# C and C++, compiled, linked and run; a shared library of one's own; make.
set -euo pipefail

cat >sum.c <<'END'
int sum(int n) { return n ? n + sum(n - 1) : 0; }
END
cat >main.c <<'END'
#include <pthread.h>
#include <stdio.h>
int sum(int n);
static void *work(void *result) { *(int *)result = sum(10); return result; }
int main(void) {
  int result = 0;
  pthread_t thread;
  pthread_create(&thread, 0, work, &result);
  pthread_join(thread, 0);
  return printf("%d\n", result) < 0;
}
END
gcc -O2 -Wall -pthread -shared -fPIC -o libsum.so sum.c
gcc -O2 -Wall -pthread -o main main.c -L. -lsum -Wl,-rpath,"$PWD"
[[ -s main ]]
[[ $(./main) == 55 ]]

cat >main.cc <<'END'
#include <future>
#include <iostream>
#include <stdexcept>
int main() try {
  std::cout << std::async(std::launch::async, [] { return 42; }).get() << std::endl;
  throw std::runtime_error("thrown");
} catch (const std::exception& e) {
  std::cout << e.what() << "\n";
}
END
printf 'program: main.cc\n\tg++ -std=c++20 -g -fsanitize=undefined -o $@ $<\n' >Makefile
make -s
[[ $(./program) == $'42\nthrown' ]]
echo works
