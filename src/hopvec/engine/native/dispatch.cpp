#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "kernels.hpp"

namespace hopvec {
namespace {

const Kernels& choose_kernels() {
  const char* requested = std::getenv("HOPVEC_LEVEL");
  const auto allowed = [&](const Kernels& set) {
    return !requested || !*requested || !std::strcmp(requested, set.level);
  };
#if defined(HOPVEC_X86_LEVELS)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
                  __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (v4 && allowed(v4_kernels)) return v4_kernels;
  if (v3 && allowed(v3_kernels)) return v3_kernels;
#endif
  if (allowed(plain_kernels)) return plain_kernels;
  throw std::runtime_error(std::string("HOPVEC_LEVEL=") + requested +
                           " is not a level this machine can run; leave it unset, or use plain, v3 or v4");
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose_kernels();
  return chosen;
}

}  // namespace hopvec
