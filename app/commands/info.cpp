#include "app/commands/info.h"

namespace vitascope::app {

std::function<int()> declare_info(CLI::App&) {
  return [] { return 0; };
}

}  // namespace vitascope::app
