// The edge of the program: errors become one line on stderr and an exit status.
#include <c10/util/Exception.h>

#include <malloc.h>

#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "app/output.h"
#include "app/program.h"
#include "vit/error.h"

namespace {

using namespace vitascope;

enum ExitStatus { kUsage = 2, kFailure = 3, kInternal = 70 };

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

int internal_error(const std::string& message) {
  app::output::error("internal error: " + first_line(message) +
                     " (please report this line and the command that led to it)");
  return kInternal;
}

int failure(const std::string& message) {
  app::output::error(first_line(message));
  return kFailure;
}

/// Layers allocate and free the same megabytes again and again. By default the system takes them
/// back each time and clears every page anew, which costs a third of a short attention's time.
/// Larger blocks still go back: keeping them would add a tenth to the peak.
void keep_freed_memory() {
#if defined(__GLIBC__)
  constexpr int kMegabyte = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 16 * kMegabyte);
  mallopt(M_TRIM_THRESHOLD, 48 * kMegabyte);
#endif
}

/// LibTorch reports memory that it can't have as an error like any other.
bool is_out_of_memory(const c10::Error& error) {
  return dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
         std::string(error.what_without_backtrace()).find("can't allocate memory") !=
             std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  // `vitascope ... | head` ends quietly even where the parent process ignores SIGPIPE.
  std::signal(SIGPIPE, SIG_DFL);
  keep_freed_memory();
  try {
    return app::run(argc, argv);
  } catch (const UsageError& error) {
    app::output::error(error.what());
    return kUsage;
  } catch (const InputError& error) {
    app::output::error(error.what());
    return kUsage;
  } catch (const FailureError& error) {
    return failure(error.what());
  } catch (const std::bad_alloc&) {
    return failure("out of memory; a smaller --batch-size needs less");
  } catch (const std::system_error& error) {
    return failure(error.what());
  } catch (const c10::Error& error) {
    if (is_out_of_memory(error)) return failure("out of memory; a smaller --batch-size needs less");
    return internal_error(error.what_without_backtrace());
  } catch (const std::exception& error) {
    return internal_error(error.what());
  } catch (...) {
    return internal_error("an exception of unknown type");
  }
}
