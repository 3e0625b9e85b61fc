"""Writes tests/golden/pictures: one small drawn picture for each way into the decoders.

usage: make_pictures.py OUT_FOLDER

Needs Pillow 13 and, for the HEIC files, pillow-heif. Every picture is drawn here from a seed.
expected.json holds, for each file, the upright size and the CRC-32 of the RGB bytes that Pillow
gives; where Pillow can't be the judge the entry says who is and how far apart decoders may be.
expected.bin holds RGB bytes of the pictures that are compared with a tolerance.
"""

import io
import json
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

SEED = 20240117


def scene(name, width, height):
    """A smooth drawn picture with a few hard edges; uint8 [height, width, 3]."""
    r = np.random.default_rng([SEED, zlib.crc32(name.encode())])
    y, x = np.mgrid[0:height, 0:width]
    out = np.zeros((height, width, 3))
    for c in range(3):
        fx, fy, phase = r.uniform(0.05, 0.35), r.uniform(0.05, 0.35), r.uniform(0, 6)
        out[..., c] = 128 + 100 * np.sin(fx * x + fy * y + phase)
    left, top = width // 4, height // 3
    out[top:top + height // 3, left:left + width // 3] = r.integers(0, 256, 3)
    return np.clip(out, 0, 255).astype(np.uint8)


def drawn(name, width=40, height=28):
    return Image.fromarray(scene(name, width, height))


def smooth16(name, width, height, channels):
    """uint16 [height, width, channels] whose low bytes matter."""
    r = np.random.default_rng([SEED, zlib.crc32(name.encode())])
    base = scene(name, width, height).astype(np.float64)
    base = np.dstack([base, base[..., :1]])[..., :channels]
    return np.clip(base * 257 + r.uniform(-128, 128, base.shape), 0, 65535).astype(np.uint16)


# ---------------------------------------------------------------- PNG

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, colour, raw, extra=b"", interlace=0):
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra
            + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def png_rows(array):
    return b"".join(b"\0" + row.tobytes() for row in array)


def interlaced_rows(array):
    """Adam7: seven passes (x start, y start, x step, y step)."""
    raw = b""
    for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4),
                           (1, 0, 2, 2), (0, 1, 1, 2)):
        part = array[y0::dy, x0::dx]
        if part.size:
            raw += png_rows(np.ascontiguousarray(part))
    return raw


def exif_block(orientation, endian="<"):
    mark = b"II*\0" if endian == "<" else b"MM\0*"
    entry = struct.pack(endian + "HHIHH", 0x0112, 3, 1, orientation, 0)
    return mark + struct.pack(endian + "IH", 8, 1) + entry + struct.pack(endian + "I", 0)


def xmp(orientation, attribute=True):
    value = (f'tiff:Orientation="{orientation}"/>' if attribute
             else f"><tiff:Orientation>{orientation}</tiff:Orientation></rdf:Description>")
    return ('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description xmlns:tiff='
            f'"http://ns.adobe.com/tiff/1.0/" {value}</x:xmpmeta>').encode()


def png_files():
    s = scene("png_exif", 40, 28)
    for o, endian in ((6, ">"), (3, "<")):
        yield (f"exif_{o}.png", "orientation in an eXIf chunk",
               png(40, 28, 8, 2, png_rows(s), chunk(b"eXIf", exif_block(o, endian))))
    yield ("xmp_8.png", "orientation only in an XMP packet (iTXt)",
           png(40, 28, 8, 2, png_rows(s),
               chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp(8))))
    s = scene("interlaced", 37, 29)
    yield "interlaced.png", "Adam7 RGB", png(37, 29, 8, 2, interlaced_rows(s), interlace=1)
    gray = s[..., 0] >> 6
    bits = np.packbits(np.unpackbits(gray[..., None], axis=2)[..., 6:].reshape(29, -1), axis=1)
    yield "gray_2bit.png", "gray, two bits a pixel", png(37, 29, 2, 0, png_rows(bits))
    v = smooth16("la16", 30, 22, 2).astype(">u2")
    yield "gray_alpha16.png", "16-bit gray + alpha: the high byte", png(30, 22, 16, 4, png_rows(v))
    v = smooth16("rgba16", 30, 22, 4).astype(">u2")
    yield "rgba16.png", "16-bit RGBA: the high byte, alpha dropped", png(30, 22, 16, 6, png_rows(v))
    yield ("rgba16_interlaced.png", "16-bit RGBA, Adam7",
           png(30, 22, 16, 6, interlaced_rows(v), interlace=1))
    v = smooth16("gray16", 30, 22, 1).astype(">u2")
    yield ("gray16_interlaced.png", "16-bit gray, Adam7: round(v / 257)",
           png(30, 22, 16, 0, interlaced_rows(v), interlace=1))
    yield ("rgb_transparent.png", "RGB with one transparent colour (tRNS), gAMA and a text",
           png(37, 29, 8, 2, png_rows(s), chunk(b"gAMA", struct.pack(">I", 30000))
               + chunk(b"tRNS", struct.pack(">3H", *s[0, 0])) + chunk(b"tEXt", b"Title\0drawn")))
    pal = Image.fromarray(s).quantize(4)
    yield "palette_2bit.png", "palette, two bits a pixel", saved(pal, "PNG", bits=2)


# ---------------------------------------------------------------- JPEG

def saved(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def with_segment(jpeg, marker, body):
    return jpeg[:2] + struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body + jpeg[2:]


def jpeg_files():
    im = drawn("jpeg", 61, 45)
    yield "subsampling_422.jpg", "4:2:2", saved(im, "JPEG", quality=90, subsampling=1)
    yield "restart.jpg", "restart markers", saved(im, "JPEG", quality=90, restart_marker_blocks=2)
    yield ("progressive_gray.jpg", "progressive, gray",
           saved(im.convert("L"), "JPEG", quality=80, progressive=True))
    yield ("rgb_coded.jpg", "components R, G and B without a colour transform",
           saved(im, "JPEG", quality=90, keep_rgb=True))
    plain = saved(im, "JPEG", quality=85)
    yield ("xmp_6.jpg", "orientation only in an XMP packet",
           with_segment(plain, 0xE1, b"http://ns.adobe.com/xap/1.0/\0" + xmp(6, False)))
    yield ("exif_after_xmp.jpg", "EXIF 3 wins over XMP 6",
           with_segment(with_segment(plain, 0xE1, b"Exif\0\0" + exif_block(3, ">")), 0xE1,
                        b"http://ns.adobe.com/xap/1.0/\0" + xmp(6)))
    cmyk = saved(im.convert("CMYK"), "JPEG", quality=90)
    at = cmyk.index(b"\xff\xee\x00\x0eAdobe")
    yield "cmyk_plain.jpg", "CMYK without an Adobe marker", cmyk[:at] + cmyk[at + 16:]


# ---------------------------------------------------------------- WebP

def riff(chunks):
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WEBP" + chunks


def webp_chunk(kind, data):
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) & 1)


def u24(value):
    return struct.pack("<I", value)[:3]


def webp_files():
    im = drawn("webp", 41, 27)
    for o in (5, 8):
        yield (f"exif_{o}.webp", "orientation in an EXIF chunk",
               saved(im, "WEBP", quality=80, exif=exif_block(o, "<" if o == 5 else ">")))
    alpha = Image.fromarray(np.tile(np.linspace(0, 255, 41).astype(np.uint8), (27, 1)))
    rgba = im.copy()
    rgba.putalpha(alpha)
    yield "alpha_lossy.webp", "lossy with alpha", saved(rgba, "WEBP", quality=80)
    yield "alpha_lossless.webp", "lossless with alpha", saved(rgba, "WEBP", lossless=True, exact=True)
    small = saved(drawn("webp frame", 20, 14), "WEBP", lossless=True)
    payload = small[12:]
    frame = (u24(4 // 2) + u24(6 // 2) + u24(19) + u24(13) + u24(100) + b"\0" + payload)
    head = webp_chunk(b"VP8X", bytes([2, 0, 0, 0]) + u24(35) + u24(29))
    anim = webp_chunk(b"ANIM", bytes([255, 0, 0, 255, 0, 0]))
    yield ("animated_offset.webp", "animated; the first frame is smaller than the canvas",
           riff(head + anim + webp_chunk(b"ANMF", frame) * 2))
    frames = [drawn(f"webp anim {i}", 32, 24) for i in range(2)]
    yield ("animated.webp", "animated, lossy",
           saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], duration=50))


# ---------------------------------------------------------------- TIFF

def tiff(endian, tags, pixels):
    """A TIFF of one strip. tags: {tag: (type, values)}; type 3 SHORT, 4 LONG."""
    at = 8 + len(pixels) + (len(pixels) & 1)
    tags = dict(tags)
    tags[273], tags[279] = (4, [8]), (4, [len(pixels)])
    entries, extra = b"", b""
    after = at + 2 + 12 * len(tags) + 4
    for tag in sorted(tags):
        kind, values = tags[tag]
        data = struct.pack(endian + str(len(values)) + {3: "H", 4: "I"}[kind], *values)
        if len(data) > 4:
            value = struct.pack(endian + "I", after + len(extra))
            extra += data
        else:
            value = data.ljust(4, b"\0")
        entries += struct.pack(endian + "HHI", tag, kind, len(values)) + value
    mark = b"II*\0" if endian == "<" else b"MM\0*"
    return (mark + struct.pack(endian + "I", at) + pixels + b"\0" * (len(pixels) & 1)
            + struct.pack(endian + "H", len(tags)) + entries + bytes(4) + extra)


def basic_tags(width, height, photometric, bits, orientation=None):
    tags = {256: (3, [width]), 257: (3, [height]), 258: (3, bits), 259: (3, [1]),
            262: (3, [photometric]), 277: (3, [len(bits)]), 278: (3, [height])}
    if orientation:
        tags[274] = (3, [orientation])
    return tags


def tiff_files():
    s = scene("tiff", 13, 9)
    for o in range(1, 9):
        endian = "<" if o % 2 else ">"
        yield (f"orientation_{o}.tif", "orientation tag, no compression",
               tiff(endian, basic_tags(13, 9, 2, [8, 8, 8], o), s.tobytes()))
    im = drawn("tiff photo", 33, 21)
    yield "gray.tif", "8-bit gray", saved(im.convert("L"), "TIFF")
    gray = np.asarray(im.convert("L"))
    yield ("gray_white_is_zero.tif", "8-bit gray, white is zero",
           tiff("<", basic_tags(33, 21, 0, [8]), gray.tobytes()))
    for endian in "<>":
        v = smooth16("tiff16", 33, 21, 1).astype(endian + "u2")
        yield (f"gray16_{'little' if endian == '<' else 'big'}.tif", "16-bit gray: round(v / 257)",
               tiff(endian, basic_tags(33, 21, 1, [16]), v.tobytes()))
    v = smooth16("tiff16rgb", 33, 21, 3).astype("<u2")
    yield ("rgb16.tif", "16-bit RGB: the high byte",
           tiff("<", basic_tags(33, 21, 2, [16] * 3), v.tobytes()))
    alpha = np.tile(np.linspace(0, 255, 33).astype(np.uint8)[None, :, None], (21, 1, 1))
    tags = basic_tags(33, 21, 2, [8] * 4)
    tags[338] = (3, [2])
    yield ("rgba.tif", "RGB with unassociated alpha, which is dropped",
           tiff("<", tags, np.dstack([np.asarray(im), alpha]).tobytes()))
    tags[338] = (3, [1])
    premultiplied = np.asarray(im).astype(np.uint16) * alpha // 255
    yield ("rgba_associated.tif", "RGB with alpha multiplied in, which is undone before it is dropped",
           tiff(">", tags, np.dstack([premultiplied.astype(np.uint8), alpha]).tobytes()))
    tags = basic_tags(33, 21, 1, [8] * 2)
    tags[338] = (3, [2])
    yield ("gray_alpha.tif", "gray with alpha, which is dropped",
           tiff("<", tags, np.dstack([gray[..., None], alpha]).tobytes()))
    yield "palette.tif", "palette", saved(im.quantize(32), "TIFF")
    yield "bilevel_g4.tif", "1 bit, CCITT group 4", saved(im.convert("1"), "TIFF", compression="group4")
    yield "deflate.tif", "deflate", saved(im, "TIFF", compression="tiff_adobe_deflate")
    yield "packbits.tif", "PackBits", saved(im, "TIFF", compression="packbits")
    yield "cmyk.tif", "CMYK", saved(im.convert("CMYK"), "TIFF")
    yield "jpeg.tif", "JPEG inside TIFF", saved(im, "TIFF", compression="jpeg", quality=90)


# ---------------------------------------------------------------- BMP

def bmp(width, height, bits, compression, palette, pixels, masks=b""):
    offset = 14 + 40 + len(masks) + len(palette)
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, len(pixels), 2835,
                       2835, len(palette) // 4, 0)
    return (b"BM" + struct.pack("<IHHI", offset + len(pixels), 0, 0, offset) + info + masks + palette
            + pixels)


def padded(array):
    raw = array.reshape(array.shape[0], -1)
    raw = np.pad(raw, ((0, 0), (0, -raw.shape[1] % 4)))
    return raw.tobytes()


def bmp_palette(im, colours):
    flat = np.array(im.getpalette()[:3 * colours], np.uint8).reshape(-1, 3)
    return np.dstack([flat[None, :, ::-1], np.zeros((1, len(flat), 1), np.uint8)]).tobytes()


def rle8(rows):
    """Runs, an absolute run where neighbours differ, an end of line a row."""
    out = b""
    for row in rows[::-1]:
        x = 0
        while x < len(row):
            run = 1
            while x + run < len(row) and run < 255 and row[x + run] == row[x]:
                run += 1
            if run == 1 and x + 3 <= len(row):
                out += bytes([0, 3, *row[x:x + 3], 0])
                x += 3
            else:
                out += bytes([run, row[x]])
                x += run
        out += b"\0\0"
    return out + b"\0\1"


def rle4(rows):
    out = b""
    for row in rows[::-1]:
        x = 0
        while x < len(row):
            run = 1
            while x + run < len(row) and run < 255 and row[x + run] == row[x]:
                run += 1
            out += bytes([run, int(row[x]) * 17])
            x += run
        out += b"\0\0"
    return out + b"\0\1"


def bmp_files():
    s = scene("bmp", 35, 22)
    im = Image.fromarray(s)
    pal = im.quantize(200)
    index = np.asarray(pal)
    colours = len(pal.getpalette()) // 3
    yield ("palette8.bmp", "8-bit palette",
           bmp(35, 22, 8, 0, bmp_palette(pal, colours), padded(index[::-1])))
    few = im.quantize(6)
    yield ("rle8.bmp", "8-bit palette, run lengths",
           bmp(35, 22, 8, 1, bmp_palette(few, 6), rle8(np.asarray(few))))
    yield ("rle4.bmp", "4-bit palette, run lengths",
           bmp(35, 22, 4, 2, bmp_palette(few, 6), rle4(np.asarray(few))))
    four = im.quantize(16)
    nibbles = np.pad(np.asarray(four), ((0, 0), (0, 1)))
    nibbles = nibbles[:, ::2] << 4 | nibbles[:, 1::2]
    yield ("palette4.bmp", "4-bit palette",
           bmp(35, 22, 4, 0, bmp_palette(four, 16), padded(nibbles[::-1])))
    yield "bilevel.bmp", "1 bit", saved(im.convert("1"), "BMP")
    yield "gray.bmp", "8-bit gray palette", saved(im.convert("L"), "BMP")
    four = np.dstack([s[..., ::-1], np.full((22, 35, 1), 77, np.uint8)])
    yield "rgb32.bmp", "32 bits, the fourth byte unused", bmp(35, 22, 32, 0, b"", padded(four[::-1]))
    yield "top_down.bmp", "24 bits, top row first", bmp(35, -22, 24, 0, b"", padded(s[..., ::-1]))
    w = s.astype(np.uint16)
    v = ((w[..., 0] >> 3) << 10 | (w[..., 1] >> 3) << 5 | w[..., 2] >> 3).astype("<u2")
    yield "rgb555.bmp", "16 bits, 5-5-5", bmp(35, 22, 16, 0, b"", padded(v[::-1].view(np.uint8)))
    v = ((w[..., 0] >> 3) << 11 | (w[..., 1] >> 2) << 5 | w[..., 2] >> 3).astype("<u2")
    yield ("rgb565.bmp", "16 bits, 5-6-5",
           bmp(35, 22, 16, 3, b"", padded(v[::-1].view(np.uint8)),
               struct.pack("<III", 0xF800, 0x7E0, 0x1F)))
    core = struct.pack("<IHHHH", 12, 35, 22, 1, 24)
    pixels = padded(s[::-1, :, ::-1])
    yield ("core_header.bmp", "OS/2 header",
           b"BM" + struct.pack("<IHHI", 26 + len(pixels), 0, 0, 26) + core + pixels)


# ---------------------------------------------------------------- GIF

def lzw(indices, bits):
    """GIF's LZW with a clear code before every 2^bits - 2 pixels: never widens the codes."""
    clear, stop = 1 << bits, (1 << bits) + 1
    codes = []
    for at in range(0, len(indices), (1 << bits) - 2):
        codes += [clear, *indices[at:at + (1 << bits) - 2]]
    number, shift, out = 0, 0, bytearray()
    for code in [*codes, stop]:
        number |= int(code) << shift
        shift += bits + 1
        while shift >= 8:
            out.append(number & 255)
            number >>= 8
            shift -= 8
    if shift:
        out.append(number & 255)
    blocks = b"".join(bytes([len(out[i:i + 255])]) + bytes(out[i:i + 255])
                      for i in range(0, len(out), 255))
    return bytes([bits]) + blocks + b"\0"


def gif(screen, frame, indices, palette=b"", local=b"", interlace=False, transparent=None, bits=4,
        background=0):
    flags = 0x80 | (len(palette) // 3).bit_length() - 2 if palette else 0
    out = b"GIF89a" + struct.pack("<HHBBB", *screen, flags, background, 0) + palette
    if transparent is not None:
        out += b"!\xf9\x04\x01\0\0" + bytes([transparent]) + b"\0"
    flags = (0x80 | (len(local) // 3).bit_length() - 2 if local else 0) | 0x40 * interlace
    rows = np.asarray(indices)
    if interlace:
        rows = np.concatenate([rows[0::8], rows[4::8], rows[2::4], rows[1::2]])
    out += b"," + struct.pack("<HHHHB", *frame, flags) + local
    out += lzw(rows.ravel(), bits)
    return out + b";"


def gif_files():
    im = drawn("gif", 30, 21).quantize(16)
    index = np.asarray(im)
    palette = bytes(im.getpalette()[:48])
    full = (0, 0, 30, 21)
    yield "interlaced.gif", "interlaced", gif((30, 21), full, index, palette, interlace=True)
    yield ("offset.gif", "the frame is smaller than the screen; the rest is colour 0",
           gif((40, 33), (5, 7, 30, 21), index, palette, background=3))
    yield ("offset_transparent.gif", "the same with a transparent colour, which fills the rest",
           gif((40, 33), (5, 7, 30, 21), index, palette, transparent=5, interlace=True))
    yield ("local_palette.gif", "the frame's own palette wins",
           gif((30, 21), full, index, bytes(48), local=palette))
    yield "no_palette.gif", "no palette at all: gray", gif((30, 21), full, index)
    yield ("frame_beyond_screen.gif", "the frame sticks out of the screen, which grows",
           gif((20, 20), (3, 2, 30, 21), index, palette))
    yield ("beyond_palette.gif", "indices beyond the palette",
           gif((30, 21), full, index, palette[:24], bits=4))


# ---------------------------------------------------------------- HEIF and AVIF

def heif_files():
    import pillow_heif
    pillow_heif.register_heif_opener()
    im = drawn("heif", 64, 48)
    yield "photo.heic", "HEVC, 4:2:0", saved(im, "HEIF", quality=85, chroma="420")
    rotated = Image.Exif()
    rotated[0x0112] = 6
    yield ("turned.heic", "HEVC with a rotation property",
           saved(im, "HEIF", quality=85, chroma="420", exif=rotated.tobytes()))
    yield "photo.avif", "AV1, 4:4:4", saved(im, "AVIF", quality=85, subsampling="4:4:4")
    yield ("turned.avif", "AV1 with a rotation property",
           saved(im, "AVIF", quality=85, subsampling="4:4:4", exif=rotated.tobytes()))
    rgba = im.copy()
    rgba.putalpha(Image.fromarray(np.tile(np.linspace(0, 255, 64).astype(np.uint8), (48, 1))))
    yield ("alpha.avif", "AV1 with alpha, which is dropped",
           saved(rgba, "AVIF", quality=85, subsampling="4:4:4"))


# ---------------------------------------------------------------- the judge

def upright_rgb(data):
    im = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    if im.mode.startswith("I;16") or im.mode == "I":
        # convert('RGB') would clip 16-bit gray at 255.
        im = Image.fromarray(np.rint(np.asarray(im).astype(np.float64) / 257).astype(np.uint8))
    return im.convert("RGB")


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    files, blob = [], b""
    for source in (png_files, jpeg_files, webp_files, tiff_files, bmp_files, gif_files):
        for name, what, data in source():
            (out / name).write_bytes(data)
            rgb = upright_rgb(data)
            files.append(dict(file=name, what=what, size=list(rgb.size),
                              crc32_rgb=zlib.crc32(np.asarray(rgb).tobytes())))
    for name, what, data in heif_files():
        (out / name).write_bytes(data)
        rgb = upright_rgb(data)
        files.append(dict(
            file=name, what=what, size=list(rgb.size), rgb_offset=len(blob), tolerance_levels=4,
            judge="Pillow's decoder is another library than ours and rounds its colour conversion "
                  "differently: compared within tolerance_levels"))
        blob += np.asarray(rgb).tobytes()
    (out / "expected.bin").write_bytes(blob)
    (out / "expected.json").write_text(json.dumps(
        dict(size_is="[width, height] after orientation", judge="Pillow " + Image.__version__,
             files=files), indent=1) + "\n")


if __name__ == "__main__":
    main()
