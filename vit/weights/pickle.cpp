#include "vit/weights/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <unordered_map>

#include "vit/weights/pickle_heights.h"
#include "vit/weights/pickle_stream.h"

namespace vitascope::weights {
namespace {

using Op = PickleOp;
using Kind = PickleSequence::Kind;

/// Operations may copy a remembered name again and again; real files name a few dozen globals.
constexpr std::size_t kGlobalBytes = 1 << 20;

class Unpickler {
 public:
  Unpickler(Bytes data, const std::string& path) : stream_(data, path) {}
  Unpickler(const Unpickler&) = delete;
  Unpickler& operator=(const Unpickler&) = delete;

  /// Values may form chains of any length and cycles. Emptying each while all are still held takes
  /// them apart one by one: nothing leaks, and no destructor calls itself.
  ~Unpickler() {
    for (const PicklePtr& value : values_) value->value = PickleNone{};
  }

  /// Bytes behind what run() read.
  std::size_t remaining() const { return stream_.remaining(); }

  PicklePtr run() {
    for (std::int64_t operations = 0;; ++operations) {
      if (operations == kPickleOperations) {
        throw fault(fmt::format("more than {} operations", kPickleOperations));
      }
      const Op op = stream_.next();
      if (stream_.at_first_operation() != (op == Op::proto)) {
        throw fault(
            "a pickle of protocol 2 to 5 begins with its protocol, and no other operation "
            "may");
      }
      if (op == Op::stop) return finish(pop());
      if (!push_scalar(op) && !push_container(op) && !change_container(op) && !use_memo(op)) {
        throw fault(fmt::format("opcode 0x{:02x} is not one of protocols 2 to 5 that weights use",
                                static_cast<unsigned>(op)));
      }
    }
  }

 private:
  InputError fault(const std::string& what) const { return stream_.fault(what); }

  // The stack. Operations see only what lies above the last mark.
  void push(PicklePtr value) { stack_.push_back(std::move(value)); }
  template <typename T>
  void push_new(T value) {
    values_.push_back(std::make_shared<PickleValue>(PickleValue{std::move(value)}));
    push(values_.back());
  }
  const PicklePtr& top() const {
    if (stack_.size() == (marks_.empty() ? 0 : marks_.back())) throw fault("the stack is empty");
    return stack_.back();
  }
  PicklePtr pop() {
    PicklePtr value = top();
    stack_.pop_back();
    return value;
  }
  std::vector<PicklePtr> pop_to_mark() {
    if (marks_.empty()) throw fault("no mark is on the stack");
    std::vector<PicklePtr> items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()),
                                 stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }
  std::vector<PicklePtr> pop_several(int count) {
    std::vector<PicklePtr> items(static_cast<std::size_t>(count));
    for (auto item = items.rbegin(); item != items.rend(); ++item) *item = pop();
    return items;
  }

  bool push_scalar(Op op);
  bool push_container(Op op);
  bool change_container(Op op);
  bool use_memo(Op op);
  void push_integer(Bytes bytes);
  void push_global(const std::string& module, const std::string& name);
  void push_call(PicklePtr callable, PicklePtr arguments);
  void add_items(const std::vector<PicklePtr>& items);
  void set_items(const std::vector<PicklePtr>& items);
  void build();
  void remember(std::uint64_t key) { memo_[key] = top(); }
  void recall(std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) throw fault(fmt::format("memo {} was never set", key));
    push(found->second);
  }

  PicklePtr finish(PicklePtr root);

  PickleStream stream_;
  std::size_t global_bytes_ = 0;  ///< names of globals so far
  std::vector<PicklePtr> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, PicklePtr> memo_;
  std::vector<PicklePtr> values_;  ///< every value made
};

bool Unpickler::push_scalar(Op op) {
  switch (op) {
    case Op::none:
      push_new(PickleNone{});
      return true;
    case Op::newtrue:
    case Op::newfalse:
      push_new(op == Op::newtrue);
      return true;
    case Op::binint1:
      push_new(static_cast<std::int64_t>(stream_.number(1)));
      return true;
    case Op::binint2:
      push_new(static_cast<std::int64_t>(stream_.number(2)));
      return true;
    case Op::binint:
      push_integer(stream_.take(4));
      return true;
    case Op::long1:
      push_integer(stream_.take(stream_.number(1)));
      return true;
    case Op::long4:
      push_integer(stream_.take(stream_.number(4)));
      return true;
    case Op::binfloat: {  // the one big-endian number
      std::uint64_t bits = 0;
      for (const std::byte byte : stream_.take(8))
        bits = bits << 8 | std::to_integer<std::uint64_t>(byte);
      push_new(std::bit_cast<double>(bits));
      return true;
    }
    case Op::short_binunicode:
    case Op::short_binbytes:
    case Op::short_binstring:
      push_new(stream_.text(stream_.number(1)));
      return true;
    case Op::binunicode:
    case Op::binbytes:
    case Op::binstring:
      push_new(stream_.text(stream_.number(4)));
      return true;
    case Op::binunicode8:
    case Op::binbytes8:
    case Op::bytearray8:
      push_new(stream_.text(stream_.number(8)));
      return true;
    default:
      return false;
  }
}

/// Two's complement of any width; Python writes seeds and random states wider than 64 bits.
void Unpickler::push_integer(Bytes bytes) {
  if (bytes.size() > 8) {
    push_new(PickleGlobal{"builtins", "int"});
    push_new(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    PicklePtr digits = pop();
    push_call(pop(), std::move(digits));
    return;
  }
  std::uint64_t value = little_endian(bytes, 0, bytes.size());
  if (!bytes.empty() && bytes.size() < 8 && (bytes.back() & std::byte{0x80}) != std::byte{0}) {
    value |= ~std::uint64_t{0} << (8 * bytes.size());
  }
  push_new(static_cast<std::int64_t>(value));
}

bool Unpickler::push_container(Op op) {
  switch (op) {
    case Op::mark:
      marks_.push_back(stack_.size());
      return true;
    case Op::empty_list:
      push_new(PickleSequence{Kind::list, {}});
      return true;
    case Op::empty_tuple:
      push_new(PickleSequence{Kind::tuple, {}});
      return true;
    case Op::empty_set:
      push_new(PickleSequence{Kind::set, {}});
      return true;
    case Op::empty_dict:
      push_new(PickleDict{});
      return true;
    case Op::tuple1:
    case Op::tuple2:
    case Op::tuple3:
      push_new(PickleSequence{
          Kind::tuple, pop_several(static_cast<int>(op) - static_cast<int>(Op::tuple1) + 1)});
      return true;
    case Op::tuple:
      push_new(PickleSequence{Kind::tuple, pop_to_mark()});
      return true;
    case Op::frozenset:
      push_new(PickleSequence{Kind::set, pop_to_mark()});
      return true;
    case Op::global: {
      std::string module = stream_.line();
      push_global(module, stream_.line());
      return true;
    }
    case Op::stack_global: {
      const auto names = pop_several(2);
      const auto* module = std::get_if<std::string>(&names[0]->value);
      const auto* name = std::get_if<std::string>(&names[1]->value);
      if (module == nullptr || name == nullptr) throw fault("a global's name is not text");
      push_global(*module, *name);
      return true;
    }
    case Op::binpersid:
      push_new(PicklePersistent{pop()});
      return true;
    default:
      return false;
  }
}

bool Unpickler::change_container(Op op) {
  switch (op) {
    case Op::pop:
      // Python lets POP take a mark away as well.
      if (!marks_.empty() && stack_.size() == marks_.back()) {
        marks_.pop_back();
      } else {
        pop();
      }
      return true;
    case Op::pop_mark:
      pop_to_mark();
      return true;
    case Op::append:
      add_items(pop_several(1));
      return true;
    case Op::appends:
    case Op::additems:
      add_items(pop_to_mark());
      return true;
    case Op::setitem:
      set_items(pop_several(2));
      return true;
    case Op::setitems:
      set_items(pop_to_mark());
      return true;
    case Op::build:
      build();
      return true;
    case Op::newobj_ex:
      pop();  // keyword arguments
      [[fallthrough]];
    case Op::newobj:
    case Op::reduce: {
      PicklePtr arguments = pop();
      push_call(pop(), std::move(arguments));
      return true;
    }
    default:
      return false;
  }
}

bool Unpickler::use_memo(Op op) {
  switch (op) {
    case Op::dup:
      push(top());
      return true;
    case Op::binput:
      remember(stream_.number(1));
      return true;
    case Op::long_binput:
      remember(stream_.number(4));
      return true;
    case Op::memoize:
      remember(memo_.size());
      return true;
    case Op::binget:
      recall(stream_.number(1));
      return true;
    case Op::long_binget:
      recall(stream_.number(4));
      return true;
    case Op::proto: {
      const std::uint64_t protocol = stream_.number(1);
      if (protocol < 2 || protocol > 5) {
        throw fault(fmt::format("protocol {} is unknown; expected 2 to 5", protocol));
      }
      return true;
    }
    case Op::frame: {  // only a hint for buffering
      const std::uint64_t size = stream_.number(8);
      if (size > stream_.remaining()) throw fault("a frame is longer than the data");
      return true;
    }
    default:
      return false;
  }
}

void Unpickler::push_global(const std::string& module, const std::string& name) {
  global_bytes_ += module.size() + name.size();
  if (global_bytes_ > kGlobalBytes) throw fault("the names of its classes take more than 1 MiB");
  push_new(PickleGlobal{module, name});
}

/// collections.OrderedDict() is how state dictionaries are written; nothing else is known here.
void Unpickler::push_call(PicklePtr callable, PicklePtr arguments) {
  const auto* global = std::get_if<PickleGlobal>(&callable->value);
  const auto* tuple = std::get_if<PickleSequence>(&arguments->value);
  if (global != nullptr && global->module == "collections" && global->name == "OrderedDict" &&
      tuple != nullptr && tuple->items.empty()) {
    push_new(PickleDict{});
  } else {
    push_new(PickleObject{std::move(callable), std::move(arguments), nullptr, nullptr});
  }
}

void Unpickler::add_items(const std::vector<PicklePtr>& items) {
  PickleValue* target = top().get();
  if (auto* object = std::get_if<PickleObject>(&target->value)) {
    if (!object->items) {
      push_new(PickleSequence{Kind::list, {}});
      object->items = pop();
    }
    target = object->items.get();
  }
  auto* sequence = std::get_if<PickleSequence>(&target->value);
  if (sequence == nullptr || sequence->kind == Kind::tuple) {
    throw fault("appends to something that is no list");
  }
  sequence->items.insert(sequence->items.end(), items.begin(), items.end());
}

void Unpickler::set_items(const std::vector<PicklePtr>& items) {
  PickleValue* target = top().get();
  if (auto* object = std::get_if<PickleObject>(&target->value)) {
    if (!object->items) {
      push_new(PickleDict{});
      object->items = pop();
    }
    target = object->items.get();
  }
  auto* dict = std::get_if<PickleDict>(&target->value);
  if (dict == nullptr) throw fault("sets items of something that is no dictionary");
  if (items.size() % 2 != 0) throw fault("a key is without a value");
  for (std::size_t i = 0; i < items.size(); i += 2) {
    dict->items.emplace_back(items[i], items[i + 1]);
  }
}

void Unpickler::build() {
  PicklePtr state = pop();
  const PicklePtr& target = top();
  if (auto* object = std::get_if<PickleObject>(&target->value)) {
    object->state = std::move(state);
  } else if (!std::holds_alternative<PickleDict>(target->value)) {  // OrderedDict's attributes
    throw fault("gives a state to something that can't have one");
  }
}

/// Checks what was built, so that everyone may walk it, and lets go of it; the rest dies here.
PicklePtr Unpickler::finish(PicklePtr root) {
  try {
    const PickleHeights reached = measure_heights(root);
    std::erase_if(values_, [&](const PicklePtr& value) { return reached.contains(value.get()); });
  } catch (const std::length_error& error) {
    throw fault(error.what());
  }
  return root;
}

}  // namespace

PicklePtr unpickle(Bytes data, const std::string& path) { return unpickle_first(data, path); }

PicklePtr unpickle_first(Bytes& data, const std::string& path) {
  Unpickler unpickler(data, path);
  PicklePtr root = unpickler.run();
  data = data.last(unpickler.remaining());
  return root;
}

}  // namespace vitascope::weights
