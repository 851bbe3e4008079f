// Prints an error message if another program truncates a memory-mapped file: accessing a page that no longer exists
// raises SIGBUS, which would otherwise end the process without a message.
#pragma once

#if defined(__linux__)
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#endif

namespace hopvec {

#if defined(__linux__)

// A line of /proc/self/maps: begin-end, permissions, offset, device, inode, and the path if it is a file.
inline const char* mapped_path(const char* line, uintptr_t address) {
  uintptr_t limits[2] = {0, 0};
  for (uintptr_t& limit : limits) {
    for (; *line && *line != '-' && *line != ' '; ++line)
      limit = limit * 16 + uintptr_t(*line <= '9' ? *line - '0' : *line - 'a' + 10);
    if (*line) ++line;
  }
  return limits[0] <= address && address < limits[1] ? std::strchr(line, '/') : nullptr;
}

// Only calls that are safe in a signal handler. All threads may get here; the first one ends the process.
inline void report_truncated_map(int, siginfo_t* info, void*) {
  static std::atomic<bool> is_reported{false};
  while (is_reported.exchange(true)) pause();
  static char line[1 << 13], block[1 << 12];
  const uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
  const int maps = open("/proc/self/maps", O_RDONLY);
  size_t length = 0;
  for (ssize_t count; maps >= 0 && (count = read(maps, block, sizeof block)) > 0;) {
    for (ssize_t at = 0; at < count; ++at) {
      if (block[at] != '\n') {
        if (length + 1 < sizeof line) line[length++] = block[at];
        continue;
      }
      line[length] = 0;
      length = 0;
      if (const char* const path = mapped_path(line, address)) {
        static const char cause[] = ": the file was truncated by another program while it was being read.\n";
        const ssize_t written = write(2, path, std::strlen(path));
        _exit(written >= 0 && write(2, cause, sizeof cause - 1) >= 0 ? 2 : 3);
      }
    }
  }
  // Not a file: returning raises the signal again, with its usual effect.
  signal(SIGBUS, SIG_DFL);
}

inline void report_truncated_maps() {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_sigaction = report_truncated_map;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

#else

inline void report_truncated_maps() {}

#endif

}  // namespace hopvec
