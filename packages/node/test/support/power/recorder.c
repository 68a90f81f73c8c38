/*
 * Records what a process does to the files of the folder POWER_FOLDER, in the file POWER_LOG: writes, changes of the size, syncs,
 * and changes of names. It is preloaded, and takes the place of the functions of the C library by which SQLite and Node call
 * the system. An entry is written under the same lock as the call that it records, so the order of the log is that of the calls.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct header {
  char kind;
  char unused;
  uint16_t path_length;
  uint32_t length;
  uint64_t inode;
  uint64_t offset;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static size_t folder_length;
static int output = -1;

__attribute__((constructor)) static void begin(void) {
  const char *log = getenv("POWER_LOG");
  folder = getenv("POWER_FOLDER");
  if (log == NULL || folder == NULL) abort();
  folder_length = strlen(folder);
  output = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (output < 0) abort();
}

static void record(char kind, const char *path, uint64_t inode, uint64_t offset, const void *data, size_t length) {
  struct header header = {kind, 0, strlen(path), length, inode, offset};
  struct iovec parts[] = {{&header, sizeof header}, {(void *)path, header.path_length}, {(void *)data, length}};
  ssize_t total = sizeof header + header.path_length + length;
  int error = errno;
  if (syscall(SYS_writev, output, parts, 3) != total) abort();
  errno = error;
}

static int is_inside(const char *path) {
  return folder != NULL && strncmp(path, folder, folder_length) == 0 &&
         (path[folder_length] == '/' || path[folder_length] == '\0');
}

/* Whether a descriptor is that of the folder or of a file in it. */
static int is_recorded(int fd, char *path, uint64_t *inode) {
  char link[64];
  struct stat status;
  int error = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  int found = 0;
  if (length > 0) {
    path[length] = '\0';
    found = is_inside(path) && fstat(fd, &status) == 0;
    if (found) *inode = status.st_ino;
  }
  errno = error;
  return found;
}

static ssize_t write_at(int fd, const void *data, size_t length, off_t offset, int has_offset) {
  char path[PATH_MAX];
  uint64_t inode;
  if (!is_recorded(fd, path, &inode))
    return has_offset ? syscall(SYS_pwrite64, fd, data, length, offset) : syscall(SYS_write, fd, data, length);
  pthread_mutex_lock(&mutex);
  if (!has_offset) {
    int is_appended = (fcntl(fd, F_GETFL) & O_APPEND) != 0;
    offset = lseek(fd, 0, is_appended ? SEEK_END : SEEK_CUR);
  }
  ssize_t written =
      has_offset ? syscall(SYS_pwrite64, fd, data, length, offset) : syscall(SYS_write, fd, data, length);
  if (written > 0) record('w', path, inode, offset, data, written);
  pthread_mutex_unlock(&mutex);
  return written;
}

ssize_t write(int fd, const void *data, size_t length) { return write_at(fd, data, length, 0, 0); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return write_at(fd, data, length, offset, 1); }
ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) { return write_at(fd, data, length, offset, 1); }

static int resize(int fd, off_t length) {
  char path[PATH_MAX];
  uint64_t inode;
  if (!is_recorded(fd, path, &inode)) return syscall(SYS_ftruncate, fd, length);
  pthread_mutex_lock(&mutex);
  int result = syscall(SYS_ftruncate, fd, length);
  if (result == 0) record('t', path, inode, length, NULL, 0);
  pthread_mutex_unlock(&mutex);
  return result;
}

int ftruncate(int fd, off_t length) { return resize(fd, length); }
int ftruncate64(int fd, off_t length) { return resize(fd, length); }

/* The system need not write to its disk: the power does not really fail. */
static int synchronize(int fd, long call) {
  char path[PATH_MAX];
  uint64_t inode;
  if (!is_recorded(fd, path, &inode)) return syscall(call, fd);
  pthread_mutex_lock(&mutex);
  record('s', path, inode, 0, NULL, 0);
  pthread_mutex_unlock(&mutex);
  return 0;
}

int fsync(int fd) { return synchronize(fd, SYS_fsync); }
int fdatasync(int fd) { return synchronize(fd, SYS_fdatasync); }

static int open_at(int directory, const char *path, int flags, mode_t mode) {
  if (!(flags & (O_CREAT | O_TRUNC)) || !is_inside(path)) return syscall(SYS_openat, directory, path, flags, mode);
  struct stat status;
  pthread_mutex_lock(&mutex);
  int existed = stat(path, &status) == 0;
  int fd = syscall(SYS_openat, directory, path, flags, mode);
  if (fd >= 0 && fstat(fd, &status) == 0) {
    if (!existed) record('c', path, status.st_ino, 0, NULL, 0);
    else if (flags & O_TRUNC) record('t', path, status.st_ino, 0, NULL, 0);
  }
  pthread_mutex_unlock(&mutex);
  return fd;
}

#define MODE                      \
  mode_t mode = 0;                \
  if (flags & O_CREAT) {          \
    va_list rest;                 \
    va_start(rest, flags);        \
    mode = va_arg(rest, int);     \
    va_end(rest);                 \
  }

int open(const char *path, int flags, ...) { MODE return open_at(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE return open_at(AT_FDCWD, path, flags, mode); }
int openat(int directory, const char *path, int flags, ...) { MODE return open_at(directory, path, flags, mode); }
int openat64(int directory, const char *path, int flags, ...) { MODE return open_at(directory, path, flags, mode); }

int unlink(const char *path) {
  if (!is_inside(path)) return syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  pthread_mutex_lock(&mutex);
  int result = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (result == 0) record('u', path, 0, 0, NULL, 0);
  pthread_mutex_unlock(&mutex);
  return result;
}

int rename(const char *from, const char *to) {
  if (!is_inside(from)) return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  pthread_mutex_lock(&mutex);
  int result = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0) record('r', from, 0, 0, to, strlen(to));
  pthread_mutex_unlock(&mutex);
  return result;
}
