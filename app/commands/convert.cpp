#include "app/commands/convert.h"

namespace vitascope::app {

std::function<int()> declare_convert(CLI::App&) {
  return [] { return 0; };
}

}  // namespace vitascope::app
