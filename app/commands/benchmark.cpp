#include "app/commands/benchmark.h"

namespace vitascope::app {

std::function<int()> declare_benchmark(CLI::App&) {
  return [] { return 0; };
}

}  // namespace vitascope::app
