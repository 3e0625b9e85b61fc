#include "datasets/fault.h"

#include <c10/util/Exception.h>

#include <exception>
#include <new>

#include "vit/error.h"

namespace vitascope::datasets {

std::string current_fault() {
  try {
    throw;
  } catch (const InputError& error) {
    return error.message();
  } catch (const std::bad_alloc&) {
    return "not enough memory to decode this picture";
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "the decoder failed without saying why";
  }
}

}  // namespace vitascope::datasets
