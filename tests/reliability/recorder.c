/* Records every change of the files below one directory, in the order in which they happen, for all processes at once.
 *
 * Loaded into a process (LD_PRELOAD), whatever writes: bough, or any SQLite. RECORD_DIRECTORY names the directory,
 * RECORD_FILE the record. Each operation is done and noted under one lock that all processes share, so the order of the
 * record is the order of the files. A sync is noted twice, when it begins and when it ends, without the lock: only what was
 * written before it began is durable when it has ended. tests/reliability/recorded.py reads the record.
 *
 * RECORD_KILL=N kills the process after its Nth operation.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FILES 4096
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

struct note {
    char verb;
    int32_t thread;
    uint64_t inode;
    int64_t offset;
    uint32_t length;
} __attribute__((packed));

static uint64_t watched[FILES]; /* the inode of each descriptor of a file in the directory */
static pthread_mutex_t within = PTHREAD_MUTEX_INITIALIZER;
static int record = -1;
static pid_t owner;
static long operations;

static void die(const char *why) {
    (void)!REAL(write)(2, why, strlen(why));
    _exit(99);
}

static void begin(void) {
    pthread_mutex_lock(&within);
    if (record < 0 || owner != getpid()) { /* the lock belongs to the open file: each process opens its own */
        record = REAL(open)(getenv("RECORD_FILE"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        owner = getpid();
        operations = 0;
    }
    while (flock(record, LOCK_EX) != 0)
        if (errno != EINTR) die("recorder: no lock\n");
}

static void end(void) {
    flock(record, LOCK_UN);
    pthread_mutex_unlock(&within);
}

static void note(char verb, uint64_t inode, int64_t offset, const void *data, size_t length) {
    struct note head = {verb, gettid(), inode, offset, (uint32_t)length};
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)data, length}};
    if (writev(record, parts, 2) != (ssize_t)(sizeof head + length)) die("recorder: a note was cut off\n");
    const char *last = getenv("RECORD_KILL");
    if (last && ++operations == atol(last)) kill(getpid(), SIGKILL);
}

/* The part of a path below the directory, "" for the directory itself, NULL for any other path. */
static const char *inside(const char *path) {
    const char *root = getenv("RECORD_DIRECTORY");
    size_t length = root ? strlen(root) : 0;
    if (!length || strncmp(path, root, length) != 0) return NULL;
    return path[length] == '/' ? path + length + 1 : path[length] == 0 ? "" : NULL;
}

static uint64_t inode_of(int file) {
    struct stat found;
    if (file < 0 || file >= FILES || !watched[file]) return 0;
    return fstat(file, &found) == 0 && found.st_ino == watched[file] ? watched[file] : 0;
}

static int opened(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
    const char *name = inside(path);
    struct stat before, after;
    if (!name) return real(path, flags, mode);
    begin();
    int existed = stat(path, &before) == 0;
    int file = real(path, flags, mode), error = errno;
    if (file >= 0 && file < FILES && fstat(file, &after) == 0) {
        watched[file] = after.st_ino;
        note('o', after.st_ino, !existed, name, strlen(name));
        if (existed && (flags & O_TRUNC)) note('t', after.st_ino, 0, "", 0);
    }
    end();
    errno = error;
    return file;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                        \
        va_end(rest);                                                                                                  \
        return opened(REAL(name), path, flags, mode);                                                                  \
    }
OPEN(open)
OPEN(open64)

int close(int file) {
    if (file >= 0 && file < FILES) watched[file] = 0;
    return REAL(close)(file);
}

#define PWRITE(name, offset_t)                                                                                         \
    ssize_t name(int file, const void *data, size_t size, offset_t offset) {                                           \
        uint64_t inode = inode_of(file);                                                                               \
        if (!inode) return REAL(name)(file, data, size, offset);                                                       \
        begin();                                                                                                       \
        ssize_t done = REAL(name)(file, data, size, offset);                                                           \
        int error = errno;                                                                                             \
        if (done > 0) note('w', inode, offset, data, (size_t)done);                                                    \
        end();                                                                                                         \
        errno = error;                                                                                                 \
        return done;                                                                                                   \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int file, const void *data, size_t size) {
    uint64_t inode = inode_of(file);
    if (!inode) return REAL(write)(file, data, size);
    begin();
    ssize_t done = REAL(write)(file, data, size);
    int error = errno;
    if (done > 0) note('w', inode, lseek(file, 0, SEEK_CUR) - done, data, (size_t)done);
    end();
    errno = error;
    return done;
}

#define TRUNCATE(name, offset_t)                                                                                       \
    int name(int file, offset_t size) {                                                                                \
        uint64_t inode = inode_of(file);                                                                               \
        if (!inode) return REAL(name)(file, size);                                                                     \
        begin();                                                                                                       \
        int failed = REAL(name)(file, size), error = errno;                                                            \
        if (!failed) note('t', inode, size, "", 0);                                                                    \
        end();                                                                                                         \
        errno = error;                                                                                                 \
        return failed;                                                                                                 \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

/* A disk takes its time, and others write meanwhile. */
static void rest(void) {
    struct timespec time = {0, (random() % 2000) * 1000};
    nanosleep(&time, NULL);
}

#define SYNC(name)                                                                                                     \
    int name(int file) {                                                                                               \
        uint64_t inode = inode_of(file);                                                                               \
        if (!inode) return REAL(name)(file);                                                                           \
        begin();                                                                                                       \
        note('s', inode, 0, "", 0);                                                                                    \
        end();                                                                                                         \
        rest();                                                                                                        \
        int failed = REAL(name)(file), error = errno;                                                                  \
        begin();                                                                                                       \
        note(failed ? 'f' : 'e', inode, 0, "", 0);                                                                     \
        end();                                                                                                         \
        errno = error;                                                                                                 \
        return failed;                                                                                                 \
    }
SYNC(fsync)
SYNC(fdatasync)

int unlink(const char *path) {
    const char *name = inside(path);
    if (!name) return REAL(unlink)(path);
    begin();
    int failed = REAL(unlink)(path), error = errno;
    if (!failed) note('u', 0, 0, name, strlen(name));
    end();
    errno = error;
    return failed;
}

/* A new name is noted behind the old one and a zero byte. */
int rename(const char *from, const char *to) {
    const char *old = inside(from), *new = inside(to);
    char names[8192];
    if (!old && !new) return REAL(rename)(from, to);
    if (!old || !new || strlen(old) + strlen(new) + 1 > sizeof names) die("recorder: a rename across the directory\n");
    size_t length = strlen(old) + 1;
    memcpy(names, old, length);
    memcpy(names + length, new, strlen(new));
    begin();
    int failed = REAL(rename)(from, to), error = errno;
    if (!failed) note('r', 0, 0, names, length + strlen(new));
    end();
    errno = error;
    return failed;
}
