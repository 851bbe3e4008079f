// Runs every native loop on small graphs, on 1 and on 3 threads, under the sanitizers.
//
// Exits with 0 if the results have the same bytes for both numbers of threads. Arrays have exactly the size they need,
// so that the address sanitizer detects the first byte read beyond them.
#include <cstdio>

#include "checks.hpp"
#include "kernels.hpp"

int main() {
  std::printf("%s\n", hopvec::kernels().level);
  hopvec::check_dictionaries();
  hopvec::check_generators();
  hopvec::check_dense();
  hopvec::check_graphs();
  return 0;
}
