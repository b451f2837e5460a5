// Loaded into Chromium before the C library: writes down which variables a process adds to its environment, one
// "<process> <name>" a line, into the file that HOLDFAST_ADDITIONS names.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int setenv(const char *name, const char *value, int overwrite) {
  int (*next)(const char *, const char *, int) = (int (*)(const char *, const char *, int))dlsym(RTLD_NEXT, "setenv");
  const char *path = getenv("HOLDFAST_ADDITIONS");
  if (path && !getenv(name)) {
    char line[256];
    int length = snprintf(line, sizeof line, "%d %s\n", (int)getpid(), name);
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (length >= (int)sizeof line || file < 0 || write(file, line, (size_t)length) != length) abort();
    close(file);
  }
  return next(name, value, overwrite);
}
