#include "app/commands/verify.h"

namespace vitascope::app {

std::function<int()> declare_verify(CLI::App&) {
  return [] { return 0; };
}

}  // namespace vitascope::app
