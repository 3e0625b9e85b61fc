#include <fmt/format.h>
#include <libheif/heif.h>

#include <cstring>
#include <memory>

#include "vit/error.h"
#include "vit/image/decoders.h"

namespace vitascope::image {
namespace {

template <auto release>
struct Release {
  template <class T>
  void operator()(T* object) const {
    release(object);
  }
};
using Context = std::unique_ptr<heif_context, Release<heif_context_free>>;
using Handle = std::unique_ptr<heif_image_handle, Release<heif_image_handle_release>>;
using Image = std::unique_ptr<heif_image, Release<heif_image_release>>;
using Options = std::unique_ptr<heif_decoding_options, Release<heif_decoding_options_free>>;

void check(const heif_error& error, const std::string& path) {
  if (error.code == heif_error_Ok) return;
  if (error.code == heif_error_Unsupported_feature || error.code == heif_error_Unsupported_filetype)
    throw InputError(
        path,
        fmt::format("is a HEIF file that this machine's libheif can't decode: {}", error.message));
  throw InputError(path, fmt::format("damaged HEIF: {}", error.message));
}

}  // namespace

Picture decode_heif(Bytes file, const std::string& path, const DecodeOptions& options) {
  const Context context(heif_context_alloc());
  check(
      heif_context_read_from_memory_without_copy(context.get(), file.data(), file.size(), nullptr),
      path);
  heif_image_handle* found = nullptr;
  check(heif_context_get_primary_image_handle(context.get(), &found), path);
  const Handle handle(found);
  check_size({heif_image_handle_get_width(found), heif_image_handle_get_height(found)}, path,
             options);

  const Options decoding(heif_decoding_options_alloc());
  decoding->convert_hdr_to_8bit = 1;
  if (decoding->version >= 3) decoding->strict_decoding = 1;
  heif_image* decoded = nullptr;
  check(heif_decode_image(handle.get(), &decoded, heif_colorspace_RGB, heif_chroma_interleaved_RGB,
                          decoding.get()),
        path);
  const Image image(decoded);
  Picture picture;
  picture.size = {heif_image_get_width(decoded, heif_channel_interleaved),
                  heif_image_get_height(decoded, heif_channel_interleaved)};
  check_size(picture.size, path, options);
  int stride = 0;
  const std::uint8_t* rows =
      heif_image_get_plane_readonly(decoded, heif_channel_interleaved, &stride);
  if (rows == nullptr || picture.size.width <= 0 || picture.size.height <= 0)
    throw InputError(path, "damaged HEIF: it decodes to no pixels");
  const std::size_t width = static_cast<std::size_t>(picture.size.width) * 3;
  picture.rgb.resize(width * picture.size.height);
  for (int y = 0; y < picture.size.height; ++y)
    std::memcpy(&picture.rgb[y * width], rows + static_cast<std::ptrdiff_t>(y) * stride, width);
  return picture;
}

}  // namespace vitascope::image
