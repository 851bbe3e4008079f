// Declarations shared by the files of the sanitizer driver.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "random.hpp"

namespace hopvec {

struct Generator {
  uint64_t state = 1;
  uint64_t operator()() { return mix(state += golden); }
  int64_t below(int64_t bound) { return int64_t((*this)() % uint64_t(bound)); }
};

template <class T>
void check_same(const std::string& what, const std::vector<T>& one, const std::vector<T>& three) {
  if (one.size() == three.size() && (one.empty() || !std::memcmp(one.data(), three.data(), one.size() * sizeof(T))))
    return;
  std::fprintf(stderr, "%s: results differ between 1 thread and 3 threads\n", what.c_str());
  std::exit(1);
}

// Each check exits with 1 if it fails.
void check_graphs();
void check_dense();
void check_generators();
void check_dictionaries();

}  // namespace hopvec
