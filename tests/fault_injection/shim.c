/* A library for LD_PRELOAD that makes the n-th file operation below a directory fail, fall short, or end the process.
 *
 * It does nothing until `inject` is called. Files are recognized by their names in /proc/self/fd, so that descriptors
 * that were duplicated, and files that have no name, count too. The counters are in memory that a process shares with
 * those that it forks, so that the parent sees what a child did.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Keep in sync with FAULTS in shim.py. */
enum fault { FULL_DISK = 1, IO_ERROR, SHORT_WRITE, KILL_BEFORE, KILL_AFTER, KILL_HALFWAY };

/* What an operation does, which decides the faults that it can have. */
enum kind { READ = 1, WRITE = 2, ALLOCATE = 4, CHANGE = 8, MAP = 16 };

struct shared {
  atomic_long calls; /* that the fault applies to */
  atomic_long fired;
  char operation[32]; /* the one that failed */
};

static struct shared *shared;
static int armed, fault;
static long target;
static char directory[PATH_MAX];
static size_t length;

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* Called once, before processes fork: the counters. */
struct shared *shared_counters(void) {
  if (!shared) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) abort();
  }
  return shared;
}

long calls(void) { return shared_counters()->calls; }
long fired(void) { return shared_counters()->fired; }
const char *operation(void) { return shared_counters()->operation; }

/* The n-th operation below a directory has a fault. */
void inject(const char *below, int kind, long n) {
  shared_counters();
  shared->calls = shared->fired = 0;
  shared->operation[0] = 0;
  snprintf(directory, sizeof directory, "%s/", below);
  length = strlen(directory);
  fault = kind;
  target = n;
  armed = 1;
}

void stop(void) { armed = 0; }

static int is_below(const char *path) { return strncmp(path, directory, length) == 0; }

static int watches_path(int parent, const char *path) {
  char full[2 * PATH_MAX], link[64];
  if (!armed || !path) return 0;
  if (path[0] == '/') return is_below(path) || strlen(path) + 1 == length; /* itself: a file without a name */
  if (parent == AT_FDCWD) {
    if (!getcwd(full, PATH_MAX)) return 0;
  } else {
    snprintf(link, sizeof link, "/proc/self/fd/%d", parent);
    const ssize_t size = readlink(link, full, PATH_MAX - 1);
    if (size < 0) return 0;
    full[size] = 0;
  }
  strncat(full, "/", 2);
  strncat(full, path, PATH_MAX - 1);
  return is_below(full);
}

static int watches(int descriptor) {
  char link[64], path[PATH_MAX];
  if (!armed || descriptor < 0) return 0;
  const int before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  errno = before;
  if (size < 0) return 0;
  path[size] = 0;
  return is_below(path);
}

static int applies(int kind, size_t bytes) {
  switch (fault) {
    case FULL_DISK: return kind & (WRITE | ALLOCATE);
    case SHORT_WRITE:
    case KILL_HALFWAY: return (kind & WRITE) && bytes > 1;
    case KILL_BEFORE:
    case KILL_AFTER: return kind & (WRITE | ALLOCATE | CHANGE);
    default: return 1;
  }
}

/* Whether this operation has the fault. A disk stays full; every other fault occurs once. */
static int strikes(const char *name, int kind, size_t bytes) {
  if (!applies(kind, bytes)) return 0;
  const long number = ++shared->calls;
  if (!target || number < target || (number > target && fault != FULL_DISK)) return 0;
  if (!shared->fired++) snprintf(shared->operation, sizeof shared->operation, "%s", name);
  if (fault == KILL_BEFORE) raise(SIGKILL);
  return 1;
}

static int error_number(void) { return fault == FULL_DISK ? ENOSPC : EIO; }
static int fails(void) { return fault == FULL_DISK || fault == IO_ERROR; }

static void after(int struck) {
  if (struck && (fault == KILL_AFTER || fault == KILL_HALFWAY)) raise(SIGKILL);
}

static size_t shortened(int struck, size_t bytes) {
  return struck && (fault == SHORT_WRITE || fault == KILL_HALFWAY) ? bytes / 2 : bytes;
}

/* The body of an operation that returns -1 for an error. */
#define OPERATION(type, watched, kind, name, call) \
  const int struck = (watched) && strikes(name, kind, 0); \
  if (struck && fails()) { \
    errno = error_number(); \
    return -1; \
  } \
  const type result = call; \
  after(struck); \
  return result

#define TRANSFER(kind, name, bytes, call) \
  const int struck = watches(descriptor) && strikes(name, kind, bytes); \
  if (struck && fails()) { \
    errno = error_number(); \
    return -1; \
  } \
  const size_t size = shortened(struck, bytes); \
  const ssize_t result = call; \
  after(struck); \
  return result

static int kind_of_open(int flags) { return flags & (O_CREAT | O_TRUNC) || (flags & O_TMPFILE) == O_TMPFILE ? ALLOCATE : READ; }

static mode_t mode_of(int flags, va_list arguments) {
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(name); \
    va_list arguments; \
    va_start(arguments, flags); \
    const mode_t mode = mode_of(flags, arguments); \
    va_end(arguments); \
    OPERATION(int, watches_path(AT_FDCWD, path), kind_of_open(flags), "open", real(path, flags, mode)); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
  int name(int parent, const char *path, int flags, ...) { \
    REAL(name); \
    va_list arguments; \
    va_start(arguments, flags); \
    const mode_t mode = mode_of(flags, arguments); \
    va_end(arguments); \
    OPERATION(int, watches_path(parent, path), kind_of_open(flags), "open", real(parent, path, flags, mode)); \
  }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name) \
  FILE *name(const char *path, const char *mode) { \
    REAL(name); \
    const int struck = watches_path(AT_FDCWD, path) && strikes("fopen", strchr(mode, 'r') ? READ : ALLOCATE, 0); \
    if (struck && fails()) { \
      errno = error_number(); \
      return NULL; \
    } \
    FILE *result = real(path, mode); \
    after(struck); \
    return result; \
  }
FOPEN(fopen)
FOPEN(fopen64)

ssize_t read(int descriptor, void *data, size_t bytes) {
  REAL(read);
  TRANSFER(READ, "read", bytes, real(descriptor, data, size));
}

ssize_t write(int descriptor, const void *data, size_t bytes) {
  REAL(write);
  TRANSFER(WRITE, "write", bytes, real(descriptor, data, size));
}

#define PREAD(name) \
  ssize_t name(int descriptor, void *data, size_t bytes, off_t offset) { \
    REAL(name); \
    TRANSFER(READ, "pread", bytes, real(descriptor, data, size, offset)); \
  }
PREAD(pread)
PREAD(pread64)

#define PWRITE(name) \
  ssize_t name(int descriptor, const void *data, size_t bytes, off_t offset) { \
    REAL(name); \
    TRANSFER(WRITE, "pwrite", bytes, real(descriptor, data, size, offset)); \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

static size_t total(const struct iovec *parts, int count) {
  size_t sum = 0;
  for (int i = 0; i < count; ++i) sum += parts[i].iov_len;
  return sum;
}

/* A shortened writev writes half of the parts, or half of the only one. */
ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  REAL(writev);
  const size_t bytes = total(parts, count);
  const struct iovec half = {count ? parts[0].iov_base : NULL, count ? parts[0].iov_len / 2 : 0};
  TRANSFER(WRITE, "writev", bytes,
           size == bytes ? real(descriptor, parts, count)
           : count > 1   ? real(descriptor, parts, count / 2)
                         : real(descriptor, &half, 1));
}

#define PWRITEV(name) \
  ssize_t name(int descriptor, const struct iovec *parts, int count, off_t offset) { \
    REAL(name); \
    const size_t bytes = total(parts, count); \
    const struct iovec half = {count ? parts[0].iov_base : NULL, count ? parts[0].iov_len / 2 : 0}; \
    TRANSFER(WRITE, "pwritev", bytes, \
             size == bytes ? real(descriptor, parts, count, offset) \
             : count > 1   ? real(descriptor, parts, count / 2, offset) \
                           : real(descriptor, &half, 1, offset)); \
  }
PWRITEV(pwritev)
PWRITEV(pwritev64)

#define ON_DESCRIPTOR(name, kind, parameters, values) \
  int name parameters { \
    REAL(name); \
    OPERATION(int, watches(descriptor), kind, #name, real values); \
  }
ON_DESCRIPTOR(fsync, CHANGE | WRITE, (int descriptor), (descriptor))
ON_DESCRIPTOR(fdatasync, CHANGE | WRITE, (int descriptor), (descriptor))
ON_DESCRIPTOR(ftruncate, CHANGE, (int descriptor, off_t size), (descriptor, size))
ON_DESCRIPTOR(ftruncate64, CHANGE, (int descriptor, off_t size), (descriptor, size))
ON_DESCRIPTOR(fallocate, ALLOCATE, (int descriptor, int mode, off_t offset, off_t size),
              (descriptor, mode, offset, size))
ON_DESCRIPTOR(fallocate64, ALLOCATE, (int descriptor, int mode, off_t offset, off_t size),
              (descriptor, mode, offset, size))
ON_DESCRIPTOR(fchmod, CHANGE, (int descriptor, mode_t mode), (descriptor, mode))

/* It returns the error. */
#define POSIX_FALLOCATE(name) \
  int name(int descriptor, off_t offset, off_t size) { \
    REAL(name); \
    const int struck = watches(descriptor) && strikes(#name, ALLOCATE, 0); \
    if (struck && fails()) return error_number(); \
    const int result = real(descriptor, offset, size); \
    after(struck); \
    return result; \
  }
POSIX_FALLOCATE(posix_fallocate)
POSIX_FALLOCATE(posix_fallocate64)

/* A descriptor is closed even if closing it reports an error. */
int close(int descriptor) {
  REAL(close);
  const int struck = watches(descriptor) && strikes("close", CHANGE, 0);
  const int result = real(descriptor);
  after(struck);
  if (struck && fails()) {
    errno = error_number();
    return -1;
  }
  return result;
}

#define ON_PATH(name, kind, parent, path, parameters, values) \
  int name parameters { \
    REAL(name); \
    OPERATION(int, watches_path(parent, path), kind, #name, real values); \
  }
ON_PATH(truncate, CHANGE, AT_FDCWD, path, (const char *path, off_t size), (path, size))
ON_PATH(truncate64, CHANGE, AT_FDCWD, path, (const char *path, off_t size), (path, size))
ON_PATH(unlink, CHANGE, AT_FDCWD, path, (const char *path), (path))
ON_PATH(unlinkat, CHANGE, parent, path, (int parent, const char *path, int flags), (parent, path, flags))
ON_PATH(rmdir, CHANGE, AT_FDCWD, path, (const char *path), (path))
ON_PATH(mkdir, ALLOCATE, AT_FDCWD, path, (const char *path, mode_t mode), (path, mode))
ON_PATH(mkdirat, ALLOCATE, parent, path, (int parent, const char *path, mode_t mode), (parent, path, mode))
ON_PATH(rename, CHANGE, AT_FDCWD, to, (const char *from, const char *to), (from, to))
ON_PATH(renameat, CHANGE, to_parent, to, (int from_parent, const char *from, int to_parent, const char *to),
        (from_parent, from, to_parent, to))
ON_PATH(renameat2, CHANGE, to_parent, to,
        (int from_parent, const char *from, int to_parent, const char *to, unsigned flags),
        (from_parent, from, to_parent, to, flags))
ON_PATH(link, ALLOCATE, AT_FDCWD, to, (const char *from, const char *to), (from, to))
ON_PATH(linkat, ALLOCATE, to_parent, to,
        (int from_parent, const char *from, int to_parent, const char *to, int flags),
        (from_parent, from, to_parent, to, flags))
ON_PATH(symlink, ALLOCATE, AT_FDCWD, to, (const char *from, const char *to), (from, to))

#define MMAP(name) \
  void *name(void *at, size_t size, int protection, int flags, int descriptor, off_t offset) { \
    REAL(name); \
    const int struck = !(flags & MAP_ANONYMOUS) && watches(descriptor) && strikes("mmap", MAP, 0); \
    if (struck && fails()) { \
      errno = ENOMEM; \
      return MAP_FAILED; \
    } \
    return real(at, size, protection, flags, descriptor, offset); \
  }
MMAP(mmap)
MMAP(mmap64)
