#include "tests/simt/emulator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/context/fiber.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "tests/simt/global_memory.h"

namespace simt {
namespace {

namespace context = boost::context;

constexpr std::size_t kRedZone = 4096;
constexpr std::size_t kStackBytes = 256 * 1024;

std::string text_of(const Where& where) {
  const std::string file = where.file_name();
  return file.substr(file.rfind('/') + 1) + ":" + std::to_string(where.line());
}

bool same(const Where& a, const Where& b) {
  return a.line() == b.line() && std::strcmp(a.file_name(), b.file_name()) == 0;
}

/// Stacks that are used again by the threads of the next block.
class StackPool {
 public:
  context::stack_context allocate() {
    if (free_.empty()) return context::fixedsize_stack(kStackBytes).allocate();
    const auto stack = free_.back();
    free_.pop_back();
    return stack;
  }
  void deallocate(context::stack_context& stack) { free_.push_back(stack); }
  ~StackPool() {
    for (auto& stack : free_) context::fixedsize_stack(kStackBytes).deallocate(stack);
  }

 private:
  std::vector<context::stack_context> free_;
};

struct PooledStack {
  StackPool* pool;
  context::stack_context allocate() { return pool->allocate(); }
  void deallocate(context::stack_context& stack) { pool->deallocate(stack); }
};

struct Copy {
  void* to;
  const void* from;
  bool zero;
};

struct Thread {
  context::fiber self, scheduler;
  Dimensions index;
  unsigned lane = 0, warp = 0;
  bool done = false;
  Where waits_at;
  std::vector<Copy> open_copies;
  std::vector<std::vector<Copy>> groups;
};

struct Warp {
  std::uint32_t ready = ~0u;
  unsigned arrived = 0;
  WarpInstruction instruction = nullptr;
  Where first_at;
  void* parts[32] = {};
};

struct Barrier {
  std::vector<Thread*> waiting;
  unsigned threads = 0;
  Where first_at;
};

StackPool& stacks() {
  static StackPool pool;
  return pool;
}
std::uint64_t& random_state() {
  static std::uint64_t state = 1;
  return state;
}
// Marsaglia 2003: xorshift.
std::uint64_t random_number() {
  std::uint64_t& x = random_state();
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x;
}

/// One block while it runs.
class Block {
 public:
  Block(Dimensions grid, Dimensions size, Dimensions index, std::size_t shared_bytes)
      : grid(grid), size(size), index(index), shared_bytes(shared_bytes) {
    const unsigned count = size.x * size.y * size.z;
    if (count == 0 || count % 32 != 0 || count > 1024) {
      throw Fault("a block of " + std::to_string(count) + " threads: expected 32 to 1024 in warps");
    }
    threads_.resize(count);
    warps.resize(count / 32);
    storage_.resize(shared_bytes + 2 * kRedZone + 1024);
    poison(storage_.data(), storage_.size());
    const auto begin = reinterpret_cast<std::uintptr_t>(storage_.data()) + kRedZone;
    shared = reinterpret_cast<unsigned char*>((begin + 1023) / 1024 * 1024);
  }

  void run(const std::function<void()>& kernel);
  void wait(const Where& where) {
    running->waits_at = where;
    running->scheduler = std::move(running->scheduler).resume();
  }
  void wake(const Thread& thread) { warps[thread.warp].ready |= 1u << thread.lane; }

  Dimensions grid, size, index;
  std::size_t shared_bytes;
  unsigned char* shared = nullptr;
  std::vector<Warp> warps;
  std::array<Barrier, 16> barriers;
  Thread* running = nullptr;

 private:
  void start(unsigned number, const std::function<void()>& kernel);
  void run_until_all_wait(unsigned warp);
  [[noreturn]] void report_parted_threads() const;
  void check_end() const;

  std::vector<Thread> threads_;
  std::vector<unsigned char> storage_;
  std::exception_ptr fault_;
};

Block* current = nullptr;

void Block::start(unsigned number, const std::function<void()>& kernel) {
  Thread& thread = threads_[number];
  thread.index = {number % size.x, number / size.x % size.y, number / size.x / size.y};
  thread.lane = number % 32;
  thread.warp = number / 32;
  thread.self = context::fiber(std::allocator_arg, PooledStack{&stacks()},
                               [this, &thread, &kernel](context::fiber&& scheduler) {
                                 thread.scheduler = std::move(scheduler);
                                 try {
                                   kernel();
                                 } catch (const std::exception&) {
                                   fault_ = std::current_exception();
                                 }
                                 thread.done = true;
                                 return std::move(thread.scheduler);
                               });
}

void Block::run_until_all_wait(unsigned warp) {
  std::uint32_t& ready = warps[warp].ready;
  while (ready != 0) {
    const int turn = static_cast<int>(random_number() >> 59);
    const int lane = (std::countr_zero(std::rotr(ready, turn)) + turn) % 32;
    ready &= ~(1u << lane);
    running = &threads_[warp * 32 + lane];
    running->self = std::move(running->self).resume();
    if (fault_) std::rethrow_exception(fault_);
    if (random_number() % 256 == 0) return;  // now and then another warp goes first
  }
}

void Block::run(const std::function<void()>& kernel) {
  current = this;
  for (unsigned i = 0; i < threads_.size(); ++i) start(i, kernel);
  while (true) {
    const unsigned turn = random_number() % warps.size();
    bool found = false;
    for (unsigned i = 0; i < warps.size() && !found; ++i) {
      const unsigned warp = (i + turn) % warps.size();
      found = warps[warp].ready != 0;
      if (found) run_until_all_wait(warp);
    }
    if (!found) break;
  }
  if (!std::ranges::all_of(threads_, &Thread::done)) report_parted_threads();
  check_end();
}

void Block::report_parted_threads() const {
  std::vector<std::pair<std::string, int>> places;
  for (const Thread& thread : threads_) {
    const std::string place = thread.done ? "have ended" : "wait at " + text_of(thread.waits_at);
    const auto found = std::ranges::find(places, place, &std::pair<std::string, int>::first);
    if (found != places.end()) {
      ++found->second;
    } else {
      places.emplace_back(place, 1);
    }
  }
  std::string message = "threads parted:";
  for (const auto& [place, count] : places)
    message += " " + std::to_string(count) + " " + place + ";";
  message.pop_back();
  throw Fault(message);
}

void Block::check_end() const {
  for (const Thread& thread : threads_) {
    const auto in_flight = [](const auto& group) { return !group.empty(); };
    if (in_flight(thread.open_copies) || std::ranges::any_of(thread.groups, in_flight)) {
      throw Fault("a thread ended before its asynchronous copies were waited for");
    }
  }
  if (!is_poison(storage_.data(), shared) ||
      !is_poison(shared + shared_bytes, storage_.data() + storage_.size())) {
    throw Fault("written outside the " + std::to_string(shared_bytes) + " bytes of shared memory");
  }
}

}  // namespace

Fault::Fault(const std::string& what, const Where& where)
    : std::runtime_error(text_of(where) + ": " + what) {}

const Dimensions& thread_index() { return current->running->index; }
const Dimensions& block_index() { return current->index; }
const Dimensions& block_size() { return current->size; }
const Dimensions& grid_size() { return current->grid; }
unsigned char* shared_memory() { return current->shared; }
unsigned lane_index() { return current->running->lane; }
void set_seed(std::uint64_t seed) { random_state() = seed * 0x9E3779B97F4A7C15ull | 1; }

void launch(Dimensions grid, Dimensions block, std::size_t shared_bytes,
            const std::function<void()>& kernel) {
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        Block(grid, block, {x, y, z}, shared_bytes).run(kernel);
      }
    }
  }
  if (!all_red_zones_intact()) throw Fault("written outside a buffer of global memory");
}

void block_barrier(unsigned id, unsigned threads, const Where& where) {
  Barrier& barrier = current->barriers.at(id);
  if (barrier.waiting.empty()) {
    barrier.threads = threads;
    barrier.first_at = where;
  } else if (!same(barrier.first_at, where) || barrier.threads != threads) {
    throw Fault(
        "a barrier at which other threads of the block came by " + text_of(barrier.first_at),
        where);
  }
  barrier.waiting.push_back(current->running);
  if (barrier.waiting.size() < threads) return current->wait(where);
  for (const Thread* thread : barrier.waiting) {
    if (thread != current->running) current->wake(*thread);
  }
  barrier.waiting.clear();
}

void warp_wide(WarpInstruction instruction, void* part, const Where& where) {
  const Thread& thread = *current->running;
  Warp& warp = current->warps[thread.warp];
  if (warp.arrived == 0) {
    warp.instruction = instruction;
    warp.first_at = where;
  } else if (warp.instruction != instruction || !same(warp.first_at, where)) {
    throw Fault("a warp-wide instruction while other lanes are at " + text_of(warp.first_at),
                where);
  }
  warp.parts[thread.lane] = part;
  if (++warp.arrived < 32) return current->wait(where);
  warp.arrived = 0;
  instruction(warp.parts, where);
  warp.ready = ~(1u << thread.lane);
}

void copy_async(void* to, const void* from, bool zero, const Where& where) {
  check_shared(to, 16, where);
  if (!zero) check_global(from, 16, where);
  poison(to, 16);
  current->running->open_copies.push_back({to, from, zero});
}

void commit_copies() {
  Thread& thread = *current->running;
  thread.groups.push_back(std::move(thread.open_copies));
  thread.open_copies.clear();
}

void wait_for_copies(std::size_t groups_left) {
  auto& groups = current->running->groups;
  while (groups.size() > groups_left) {
    for (const Copy& copy : groups.front()) {
      copy.zero ? std::memset(copy.to, 0, 16) : std::memcpy(copy.to, copy.from, 16);
    }
    groups.erase(groups.begin());
  }
}

void check_shared(const void* address, std::size_t bytes, const Where& where) {
  const auto* begin = static_cast<const unsigned char*>(address);
  if (reinterpret_cast<std::uintptr_t>(begin) % bytes != 0) {
    throw Fault("an address of shared memory not aligned to " + std::to_string(bytes), where);
  }
  if (begin < current->shared || begin + bytes > current->shared + current->shared_bytes) {
    throw Fault("outside the " + std::to_string(current->shared_bytes) +
                    " bytes of shared memory (offset " + std::to_string(begin - current->shared) +
                    ")",
                where);
  }
}

void check_global(const void* address, std::size_t bytes, const Where& where) {
  const auto* begin = static_cast<const unsigned char*>(address);
  if (reinterpret_cast<std::uintptr_t>(begin) % bytes != 0) {
    throw Fault("an address of global memory not aligned to " + std::to_string(bytes), where);
  }
  if (!is_touchable(address, bytes)) throw Fault("outside every buffer of global memory", where);
}

}  // namespace simt
