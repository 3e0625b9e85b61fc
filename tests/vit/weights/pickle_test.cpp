#include "vit/weights/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/vit/weights/pickle_builder.h"
#include "vit/error.h"

namespace vitascope::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::call;
using tests::dict;
using tests::global;
using tests::integer;
using tests::le;
using tests::list;
using tests::pickle;
using tests::text;
using tests::tuple;
using Kind = PickleSequence::Kind;
using namespace std::string_literals;  // NOLINT: "..."s keeps zero bytes

PicklePtr load(const std::string& data) {
  return unpickle(std::as_bytes(std::span(data)), "a.pth");
}

/// The value of a pickle of `operations`, which must be a T.
template <typename T>
T value(const std::string& operations) {
  return std::get<T>(load(pickle(operations))->value);
}

std::string error_of_data(const std::string& data) {
  try {
    load(data);
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "a.pth");
    return error.message();
  }
  return "no error";
}

std::string error_of(const std::string& operations) { return error_of_data(pickle(operations)); }

std::string repeat(const std::string& part, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += part;
  return result;
}

/// Python's notation, as far as the tests need it.
std::string repr(const PicklePtr& value) {
  if (!value) return "-";
  const auto join = [](const std::vector<PicklePtr>& items) {
    std::string result;
    for (const PicklePtr& item : items) result += (result.empty() ? "" : ",") + repr(item);
    return result;
  };
  const auto& v = value->value;
  if (std::holds_alternative<PickleNone>(v)) return "None";
  if (const auto* x = std::get_if<bool>(&v)) return *x ? "True" : "False";
  if (const auto* x = std::get_if<std::int64_t>(&v)) return std::to_string(*x);
  if (const auto* x = std::get_if<double>(&v)) return std::to_string(*x);
  if (const auto* x = std::get_if<std::string>(&v)) return "'" + *x + "'";
  if (const auto* x = std::get_if<PickleGlobal>(&v)) return x->module + "." + x->name;
  if (const auto* x = std::get_if<PicklePersistent>(&v)) return "<" + repr(x->id) + ">";
  if (const auto* x = std::get_if<PickleSequence>(&v)) {
    const std::string items = join(x->items);
    return x->kind == Kind::list ? "[" + items + "]"
                                 : (x->kind == Kind::tuple ? "(" + items + ")" : "{" + items + "}");
  }
  if (const auto* x = std::get_if<PickleDict>(&v)) {
    std::string items;
    for (const auto& [key, item] : x->items) {
      items += (items.empty() ? "" : ",") + repr(key) + ":" + repr(item);
    }
    return "{" + items + "}";
  }
  const auto& x = std::get<PickleObject>(v);
  return repr(x.callable) + repr(x.arguments) + "|" + repr(x.state) + "|" + repr(x.items);
}

std::string repr_of(const std::string& operations) { return repr(load(pickle(operations))); }

TEST(Unpickle, Scalars) {
  EXPECT_EQ(repr_of("N"), "None");
  EXPECT_EQ(repr_of("\x88"), "True");
  EXPECT_EQ(repr_of("\x89"), "False");
  EXPECT_EQ(value<std::int64_t>("K\xff"), 255);
  EXPECT_EQ(value<std::int64_t>("M\xff\xff"), 65535);
  EXPECT_EQ(value<std::int64_t>("J\xfe\xff\xff\xff"), -2);
  EXPECT_EQ(value<std::int64_t>("J\xff\xff\xff\x7f"), INT32_MAX);
  EXPECT_EQ(value<std::int64_t>("\x8a\0"s), 0);
  EXPECT_EQ(value<std::int64_t>("\x8a\x01\xff"), -1);
  EXPECT_EQ(value<std::int64_t>("\x8a\x02\xff\0"s), 255);
  EXPECT_EQ(value<std::int64_t>("\x8a\x08\0\0\0\0\0\0\0\x80"s), INT64_MIN);
  EXPECT_EQ(value<std::int64_t>("\x8b\x03\0\0\0\0\0\x80"s), -(1 << 23));
  EXPECT_EQ(value<double>("G\x3f\xf8\0\0\0\0\0\0"s), 1.5);
  EXPECT_TRUE(std::isnan(value<double>("G\x7f\xf8\0\0\0\0\0\0"s)));
  EXPECT_EQ(value<std::string>(text("héllo")), "héllo");
  EXPECT_EQ(value<std::string>("U\x02hi"), "hi");
  EXPECT_EQ(value<std::string>("T\x02\0\0\0hi"s), "hi");
  EXPECT_EQ(value<std::string>("C\x02hi"), "hi");
  EXPECT_EQ(value<std::string>("B\x02\0\0\0hi"s), "hi");
  EXPECT_EQ(value<std::string>("\x8c\x02hi"), "hi");
  EXPECT_EQ(value<std::string>("\x8d\x02\0\0\0\0\0\0\0hi"s), "hi");
  EXPECT_EQ(value<std::string>("\x8e\x02\0\0\0\0\0\0\0hi"s), "hi");
  EXPECT_EQ(value<std::string>("\x96\x02\0\0\0\0\0\0\0hi"s), "hi");
}

TEST(Unpickle, IntegersWiderThan64BitsAreOpaque) {
  EXPECT_EQ(repr_of("\x8a\x09" + std::string(9, 'x')), "builtins.int'xxxxxxxxx'|-|-");
}

TEST(Unpickle, Containers) {
  EXPECT_EQ(repr_of("]"), "[]");
  EXPECT_EQ(repr_of(")"), "()");
  EXPECT_EQ(repr_of("}"), "{}");
  EXPECT_EQ(repr_of("\x8f(K\x01K\x02\x90"), "{1,2}");
  EXPECT_EQ(repr_of("(K\x01K\x02\x91"), "{1,2}");
  EXPECT_EQ(repr_of("]K\x01"
                    "aK\x02"
                    "a"),
            "[1,2]");
  EXPECT_EQ(repr_of(list("K\x01K\x02")), "[1,2]");
  EXPECT_EQ(repr_of(tuple("K\x01K\x02K\x03K\x04")), "(1,2,3,4)");
  EXPECT_EQ(repr_of("K\x01\x85"), "(1)");
  EXPECT_EQ(repr_of("K\x01K\x02\x86"), "(1,2)");
  EXPECT_EQ(repr_of("K\x01K\x02K\x03\x87"), "(1,2,3)");
  EXPECT_EQ(repr_of("}K\x01K\x02s"), "{1:2}");
  EXPECT_EQ(repr_of(dict(text("a") + "N" + text("b") + ")")), "{'a':None,'b':()}");
  EXPECT_EQ(repr_of("K\x01K\x02"
                    "0"),
            "1");
  EXPECT_EQ(repr_of("K\x01(K\x02K\x03"
                    "1"),
            "1");
  EXPECT_EQ(repr_of("K\x01(0"), "1") << "POP takes a mark away";
  EXPECT_EQ(repr_of("K\x01"
                    "2\x86"),
            "(1,1)");
}

TEST(Unpickle, Memo) {
  EXPECT_EQ(repr_of("K\x07q\x05"
                    "0h\x05"),
            "7");
  EXPECT_EQ(repr_of("K\x07r\x05\0\0\0"
                    "0j\x05\0\0\0"s),
            "7");
  EXPECT_EQ(repr_of("K\x07\x94K\x08\x94"
                    "00h\0h\x01\x86"s),
            "(7,8)");
  const PicklePtr pair = load(pickle("]q\x01h\x01\x86"));
  const auto& items = std::get<PickleSequence>(pair->value).items;
  EXPECT_EQ(items[0], items[1]) << "shared, not copied";
}

TEST(Unpickle, NothingIsRun) {
  EXPECT_EQ(repr_of(call(global("os", "system"), tuple(text("touch /tmp/run")))),
            "os.system('touch /tmp/run')|-|-");
  EXPECT_EQ(repr_of("\x8c\x02os\x8c\x06system\x93\x8c\x02hi\x85R"), "os.system('hi')|-|-");
  EXPECT_EQ(repr_of(global("argparse", "Namespace") + ")\x81" + dict(text("lr") + "K\x01") + "b"),
            "argparse.Namespace()|{'lr':1}|-");
  EXPECT_EQ(repr_of(global("m", "C") + ")}\x92"), "m.C()|-|-");
  EXPECT_EQ(repr_of(call(call(global("m", "f"), ")"), ")")), "m.f()|-|-()|-|-");
}

TEST(Unpickle, OrderedDictIsADict) {
  EXPECT_EQ(repr_of(call(global("collections", "OrderedDict"), ")") + "(" + text("a") + "K\x01u"),
            "{'a':1}");
  // torch's state_dict carries an attribute, _metadata; it is let go of.
  EXPECT_EQ(repr_of(call(global("collections", "OrderedDict"), ")") + "}b"), "{}");
}

TEST(Unpickle, ObjectsKeepWhatIsPutIntoThem) {
  const std::string counter = call(global("collections", "defaultdict"), tuple("N"));
  EXPECT_EQ(repr_of(counter + text("a") + "K\x01s" + text("b") + "K\x02s"),
            "collections.defaultdict(None)|-|{'a':1,'b':2}");
  const std::string queue = call(global("collections", "deque"), ")");
  EXPECT_EQ(repr_of(queue + "K\x01"
                            "a(K\x02K\x03"
                            "e"),
            "collections.deque()|-|[1,2,3]");
}

TEST(Unpickle, PersistentIds) { EXPECT_EQ(repr_of(text("0") + "Q"), "<'0'>"); }

TEST(Unpickle, FramesAndProtocols) {
  for (const char protocol : {'\2', '\3', '\4', '\5'}) {
    EXPECT_EQ(error_of_data("\x80"s + protocol + "N."), "no error");
  }
  EXPECT_EQ(repr(load("\x80\4\x95\2\0\0\0\0\0\0\0N."s)), "None");
  EXPECT_THAT(error_of_data("\x80\4\x95\3\0\0\0\0\0\0\0N."s), HasSubstr("frame"));
  EXPECT_THAT(error_of_data("\x80\1N."s), HasSubstr("protocol 1"));
  EXPECT_THAT(error_of_data("\x80\6N."s), HasSubstr("protocol 6"));
  EXPECT_THAT(error_of_data("N."), HasSubstr("begins with its protocol"));
  EXPECT_THAT(error_of("N\x80\2"), HasSubstr("at byte 3 of the pickle"));
}

TEST(Unpickle, UnknownOpcodesAreNamedWithTheirOffset) {
  // Text forms of protocol 0, extension registry, out-of-band buffers, and codes that never were.
  for (const std::string op :
       {"I1\n", "F1\n", "L1L\n", "S'a'\n", "Va\n", "g0\n", "p0\n", "P0\n", "(im\nC\n", "(o", "(l",
        "(d", "\x82\1", "\x83\1\1", "\x97", "\x98", "\xff", "z"}) {
    EXPECT_THAT(error_of("N" + op), HasSubstr("is not one of protocols 2 to 5")) << op;
  }
  EXPECT_THAT(error_of("Nz"), HasSubstr("at byte 3 of the pickle: opcode 0x7a"));
}

TEST(Unpickle, EveryTruncationIsAnError) {
  const std::string data = pickle(call(global("collections", "OrderedDict"), ")") + "q\1(" +
                                  text("a") + list("K\1M\1\1J\1\1\1\1") + text("b") + "G12345678" +
                                  text("c") + integer(-7) + text("d") +
                                  tuple(text("x") + "h\1"
                                                    "0N") +
                                  "Q" + "\x8c\1e\x8d\1\0\0\0\0\0\0\0f\x85u"s);
  ASSERT_EQ(error_of_data(data), "no error");
  for (std::size_t size = 0; size < data.size(); ++size) {
    EXPECT_THAT(error_of_data(std::string(data.data(), size)), HasSubstr("at byte")) << size;
  }
}

TEST(Unpickle, LengthsBeyondTheDataAreErrors) {
  for (const std::string& op :
       {"X\xff\xff\xff\xff"s, "B\xff\xff\xff\xff"s, "T\xff\xff\xff\xff"s,
        "\x8d\xff\xff\xff\xff\xff\xff\xff\xff"s, "\x8e\xff\xff\xff\xff\xff\xff\xff\x7f"s,
        "\x8b\xff\xff\xff\xff"s, "U\x09"s, "\x8a\x09"s, "\x96\x09\0\0\0\0\0\0\0"s}) {
    EXPECT_THAT(error_of(op), HasSubstr("more bytes were expected")) << op;
  }
  EXPECT_THAT(error_of("cmodule"), HasSubstr("more bytes were expected"));
}

TEST(Unpickle, StackAndMemoFaults) {
  for (const std::string op :
       {"",    "0",    "2",     "a",      "Na",   "s",     "NNs",    "Q", "R",
        "NR",  "\x81", "N\x81", "NN\x92", "\x85", "N\x86", "NN\x87", "b", "Nb",
        "q\1", "\x94", "\x93",  "N(a",    "N(2",  "N(q\1", "N(\x85", "N("}) {
    EXPECT_THAT(error_of(op), HasSubstr("stack is empty")) << op;
  }
  for (const std::string op : {"t", "e", "u", "1", "\x90", "\x91"}) {
    EXPECT_THAT(error_of("N" + op), HasSubstr("no mark")) << op;
  }
  EXPECT_THAT(error_of("h\7"), HasSubstr("memo 7 was never set"));
  EXPECT_THAT(error_of("j\7\0\0\1"s), HasSubstr("memo 16777223 was never set"));
}

TEST(Unpickle, WrongKindsAreErrors) {
  EXPECT_THAT(error_of("}Na"), HasSubstr("no list"));
  EXPECT_THAT(error_of(")Na"), HasSubstr("no list"));
  EXPECT_THAT(error_of("N(N\x90"), HasSubstr("no list"));
  EXPECT_THAT(error_of("]NNs"), HasSubstr("no dictionary"));
  EXPECT_THAT(error_of("}(Nu"), HasSubstr("without a value"));
  EXPECT_THAT(error_of("]}b"), HasSubstr("state"));
  EXPECT_THAT(error_of("K\1K\1\x93"), HasSubstr("not text"));
  // An object that was appended to is no dictionary as well.
  EXPECT_THAT(error_of(call(global("m", "C"), ")") + "NaNNs"), HasSubstr("no dictionary"));
}

TEST(Unpickle, DeepNestingIsAnErrorAndNoStackOverflow) {
  EXPECT_EQ(error_of(repeat("]", 65) + repeat("a", 64)), "no error");
  EXPECT_THAT(error_of(repeat("]", 66) + repeat("a", 65)), HasSubstr("64 levels"));
  // The same deep value twice, first high up, then low down.
  const std::string deep = repeat("]", 41) + repeat("a", 40) + "q\5";
  EXPECT_EQ(error_of(list(deep + repeat("]", 20) + "h\5" + repeat("a", 20))), "no error");
  EXPECT_THAT(error_of(list(deep + repeat("]", 40) + "h\5" + repeat("a", 40))),
              HasSubstr("64 levels"));
  constexpr int kMany = 300'000;
  EXPECT_THAT(error_of(repeat("]", kMany) + repeat("a", kMany - 1)), HasSubstr("64 levels"));
  EXPECT_THAT(error_of(")" + repeat("\x85", kMany)), HasSubstr("64 levels"));
  EXPECT_THAT(error_of("N" + repeat("Q", kMany)), HasSubstr("64 levels"));
  EXPECT_THAT(error_of(global("m", "f") + repeat(")R", kMany)), HasSubstr("64 levels"));
  EXPECT_THAT(error_of(repeat("]N", kMany) + repeat("s", 1)), HasSubstr("no dictionary"));
  // A chain that grows by its end, through the memo: the stack itself stays low.
  const std::string grow =
      "h\5]q\5"
      "a0";
  EXPECT_EQ(error_of("]q\5" + repeat(grow, kMany) + "N"), "no error")
      << "out of the result's reach";
  EXPECT_THAT(error_of("]q\5q\1" + repeat(grow, kMany) + "h\1"), HasSubstr("64 levels"));
  // By BUILD: each object is the state of the next.
  EXPECT_THAT(error_of(global("m", "C") +
                       "q\5"
                       "0N" +
                       repeat("q\1"
                              "0h\5)Rh\1b",
                              kMany)),
              HasSubstr("64 levels"));
  EXPECT_THAT(error_of(repeat("(", kMany)), HasSubstr("empty"));
}

TEST(Unpickle, CyclesAreErrorsAndDoNotLeak) {
  // The leak would be found by the address sanitizer's leak check.
  EXPECT_THAT(error_of("]q\1h\1"
                       "a"),
              HasSubstr("holds itself"));
  EXPECT_THAT(error_of("}q\1Nh\1s"), HasSubstr("holds itself"));
  EXPECT_THAT(error_of("]q\1]q\2h\1"
                       "ah\2"
                       "a"),
              HasSubstr("holds itself"));
  EXPECT_THAT(error_of(call(global("m", "C"), ")") + "q\1h\1b"), HasSubstr("holds itself"));
  EXPECT_EQ(error_of("]q\1h\1"
                     "a0N"),
            "no error")
      << "out of the result's reach";
  EXPECT_THAT(error_of("]q\1h\1"
                       "az"),
              HasSubstr("opcode"))
      << "another error meanwhile";
}

TEST(Unpickle, WhatIsOutOfReachDies) {
  const PicklePtr root =
      load(pickle("]q\1]q\2h\1"
                  "ah\1h\2"
                  "a0"
                  "00K\5"));
  EXPECT_EQ(repr(root), "5");
  EXPECT_EQ(root.use_count(), 1);
}

TEST(Unpickle, SharedValuesDoNotMultiplyTheWork) {
  // 60 levels, each a pair of the one below: 2^60 paths.
  std::string operations = ")";
  for (int i = 0; i < 60; ++i) operations += "2\x86";
  EXPECT_EQ(error_of(operations), "no error");
}

TEST(Unpickle, OperationsAndNamesAreBounded) {
  EXPECT_EQ(error_of(repeat("N0", 1'000'000) + "N"), "no error");
  EXPECT_THAT(error_of(repeat("N0", 2'000'000) + "N"), HasSubstr("more than 4000000 operations"));
  // A long name, remembered and used again and again.
  const std::string name(1 << 18, 'x');
  EXPECT_THAT(error_of(text(name) + "q\1" +
                       repeat("h\1h\1\x93"
                              "0",
                              100)),
              HasSubstr("1 MiB"));
  EXPECT_THAT(error_of(repeat(global(name, name) + "0", 3)), HasSubstr("1 MiB"));
}

}  // namespace
}  // namespace vitascope::weights
