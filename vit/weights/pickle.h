#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "vit/file.h"

/// \file
/// A restricted unpickler. It builds plain values and never runs anything: a class or function
/// that it does not know by name becomes an opaque value that remembers its name and arguments.
namespace vitascope::weights {

struct PickleValue;
using PicklePtr = std::shared_ptr<PickleValue>;

struct PickleNone {};
struct PickleMark {};
/// A list, tuple or set.
struct PickleSequence {
  enum class Kind { list, tuple, set } kind = Kind::list;
  std::vector<PicklePtr> items;
};
/// A dict or OrderedDict, in order of insertion.
struct PickleDict {
  std::vector<std::pair<PicklePtr, PicklePtr>> items;
};
/// A class or function by name, not looked up anywhere.
struct PickleGlobal {
  std::string module, name;
};
/// The result of calling a global: `callable(arguments)`, with what BUILD, append or setitem added.
struct PickleObject {
  PickleGlobal callable;
  PicklePtr arguments;
  PicklePtr state;
};
/// torch.save's reference to a storage: BINPERSID of a tuple.
struct PicklePersistent {
  PicklePtr id;
};

struct PickleValue {
  std::variant<PickleNone, PickleMark, bool, std::int64_t, double, std::string, PickleSequence,
               PickleDict, PickleGlobal, PickleObject, PicklePersistent>
      value;
};

/// Reads one pickle (protocols 2 to 5).
/// \throws InputError naming `path` and the byte offset: an opcode outside the protocol, a stack or
///         memo fault, a string longer than the data, nesting deeper than 64, more than 4 million
///         values
PicklePtr unpickle(Bytes data, const std::string& path);

}  // namespace vitascope::weights
