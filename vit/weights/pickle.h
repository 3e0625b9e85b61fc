#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "vit/file.h"

/// \file
/// A restricted unpickler (Python's pickletools describes the format). It builds plain values and
/// never runs anything: a class or function becomes an opaque value that remembers its name and
/// arguments.
namespace vitascope::weights {

struct PickleValue;
using PicklePtr = std::shared_ptr<PickleValue>;

/// None.
struct PickleNone {};
/// A list, tuple or set.
struct PickleSequence {
  enum class Kind { list, tuple, set } kind = Kind::list;
  std::vector<PicklePtr> items;
};
/// A dict or OrderedDict, in order of insertion. A key set twice stands twice.
struct PickleDict {
  std::vector<std::pair<PicklePtr, PicklePtr>> items;
};
/// A class or function by name, not looked up anywhere.
struct PickleGlobal {
  std::string module, name;
};
/// What calling something would have given: `callable(*arguments)`. `state` is what BUILD gave it,
/// `items` a dict or list of what was set or appended; both null when there was nothing.
/// An integer wider than 64 bits comes as builtins.int of its bytes.
struct PickleObject {
  PicklePtr callable;
  PicklePtr arguments;
  PicklePtr state;
  PicklePtr items;
};
/// A reference to something outside the pickle: torch.save's storages.
struct PicklePersistent {
  PicklePtr id;
};

/// Any value; text and bytes are both std::string.
struct PickleValue {
  std::variant<PickleNone, bool, std::int64_t, double, std::string, PickleSequence, PickleDict,
               PickleGlobal, PickleObject, PicklePersistent>
      value;
};

/// Deepest nesting of the result.
inline constexpr int kPickleDepth = 64;
/// Most operations in a pickle; each makes at most one value, so this bounds them too.
inline constexpr std::int64_t kPickleOperations = 4'000'000;

/// Reads one pickle (protocols 2 to 5). The result refers to itself nowhere and is nested at most
/// kPickleDepth deep, so walking down it is safe; values may be shared.
/// \throws InputError naming `path` and the byte offset: an opcode outside the protocols, a stack
/// or
///         memo fault, a string longer than the data, deeper nesting or a cycle, more operations
PicklePtr unpickle(Bytes data, const std::string& path);

/// The same of the first of several pickles, which is taken off the front of `data`.
PicklePtr unpickle_first(Bytes& data, const std::string& path);

}  // namespace vitascope::weights
