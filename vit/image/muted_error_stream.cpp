#include "vit/image/muted_error_stream.h"

#include <iostream>
#include <streambuf>

namespace vitascope::image {
namespace {

thread_local bool muted = false;

/// Passes everything on to the buffer that std::cerr had, unless its thread is muted.
class Filter : public std::streambuf {
 public:
  Filter() : target_(std::cerr.rdbuf(this)) {}
  ~Filter() override { std::cerr.rdbuf(target_); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

 protected:
  int_type overflow(int_type letter) override {
    if (muted || traits_type::eq_int_type(letter, traits_type::eof()))
      return traits_type::not_eof(letter);
    return target_->sputc(traits_type::to_char_type(letter));
  }
  std::streamsize xsputn(const char* text, std::streamsize length) override {
    return muted ? length : target_->sputn(text, length);
  }
  int sync() override { return muted ? 0 : target_->pubsync(); }

 private:
  std::streambuf* target_;
};

}  // namespace

MutedErrorStream::MutedErrorStream() {
  static Filter filter;
  muted = true;
}

MutedErrorStream::~MutedErrorStream() { muted = false; }

}  // namespace vitascope::image
