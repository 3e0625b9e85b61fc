"""Writes the inputs that fuzzing starts from: small files of every format, cut from tests/golden or
made here.

    python3 seeds.py --golden ../golden --out DIR

makes DIR/<target>/ for each target. What fuzzing found beyond them lies in corpus/<target>/.
"""

import argparse
import io
import json
import pathlib
import struct
import zipfile

HEAD = 4096  # bytes of a picture that its header fits in


def safetensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def safetensors_seeds():
    widths = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, width in widths.items():
        header[name] = {"dtype": name, "shape": [2, 1], "data_offsets": [offset, offset + 2 * width]}
        offset += 2 * width
    one = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    yield safetensors(header, bytes(offset))
    yield safetensors({})
    yield safetensors(b"{}   ")
    yield safetensors({"a": one}, b"abcd")
    yield safetensors({"a": one, "b": dict(one, data_offsets=[4, 8])}, b"abcdefgh")
    for change in ({"dtype": "F8_E4M3"}, {"dtype": 1}, {"shape": 1}, {"shape": [-1]}, {"shape": [2**40, 2**40]},
                   {"shape": [2]}, {"data_offsets": [0]}, {"data_offsets": [4, 0]}, {"data_offsets": [0, 2**63]}):
        yield safetensors({"a": one | change}, b"abcd")
    for missing in one:
        yield safetensors({"a": {k: v for k, v in one.items() if k != missing}}, b"abcd")
    yield safetensors({"a": one, "b": one}, b"abcd")
    yield safetensors({"a": dict(one, data_offsets=[1, 5])}, b"abcde")
    yield safetensors({"a": one}, b"abcdefgh")
    yield safetensors({"a": 1})
    yield safetensors({"__metadata__": []})
    yield safetensors({"__metadata__": {"a": 1}})
    yield safetensors([])
    yield safetensors(b"{")
    yield struct.pack("<Q", 100)
    yield struct.pack("<Q", 2**60)
    yield b"short"


def torch_seeds(golden):
    for path in sorted((golden / "torch").iterdir()):
        yield path.read_bytes()
        if zipfile.is_zipfile(path):
            archive = zipfile.ZipFile(path)
            for name in archive.namelist():
                if name.endswith("/data.pkl"):
                    yield archive.read(name)
    for order in ("little", "big"):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("m/data.pkl", b"\x80\x02}.")
            archive.writestr("m/byteorder", order)
        yield stream.getvalue()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        with archive.open("m/data.pkl", "w", force_zip64=True) as entry:
            entry.write(b"\x80\x04\x95\x02\x00\x00\x00\x00\x00\x00\x00N.")
    yield stream.getvalue()
    # Every opcode of protocols 2 to 5 that makes a scalar, inside one list.
    yield (b"\x80\x04](NJabcdK1M12G12345678T\x01\x00\x00\x00aU\x01bX\x01\x00\x00\x00cB\x01\x00\x00\x00dC\x01e"
           b"\x88\x89\x8a\x02ab\x8b\x03\x00\x00\x00abc\x8a\x09123456789\x8c\x01f\x8d\x01\x00\x00\x00\x00\x00\x00\x00g"
           b"\x8e\x01\x00\x00\x00\x00\x00\x00\x00h\x96\x01\x00\x00\x00\x00\x00\x00\x00ie.")
    yield b"\x80\x02\x8f(K\x01\x90(K\x02\x91N\x850N\x862N\x87q\x01h\x01r\x02\x00\x00\x00j\x02\x00\x00\x00\x94(1(0Q."
    yield b"\x80\x02cm\nC\n)\x81}b}\x920\x8c\x01m\x8c\x01f\x93)RNa](Ne}NNs."
    yield from zip_seeds()
    yield b"PK"
    yield b""


def zip64(changes=()):
    """An archive whose sizes and offsets stand in zip64 fields; `changes` are (signature, offset from
    it, bytes) to be overwritten."""
    name, data = b"m/data.pkl", b"\x80\x02}."
    start = struct.pack("<HHHII", 20, 0, 0, 0, 0)
    local = b"PK\3\4" + start + struct.pack("<IIHH", len(data), len(data), len(name), 0) + name + data
    extra = struct.pack("<HHBHHQQQ", 0x9999, 1, 0, 1, 24, len(data), len(data), 0)
    directory = (b"PK\1\2" + struct.pack("<H", 20) + start + b"\xff" * 8 +
                 struct.pack("<HHHHHII", len(name), len(extra), 0, 0, 0, 0, 2**32 - 1) + name + extra)
    end64 = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, len(directory), len(local))
    locator = b"PK\6\7" + struct.pack("<IQI", 0, len(local) + len(directory), 1)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 2**16 - 1, 2**16 - 1, 2**32 - 1, 2**32 - 1, 0)
    archive = bytearray(local + directory + end64 + locator + end)
    for signature, offset, value in changes:
        at = archive.find(signature) + offset
        archive[at:at + len(value)] = value
    return bytes(archive)


def zip_seeds():
    """Good archives, and one for each way in which a directory may lie."""
    ones = b"\xff" * 8
    yield zip64()
    for change in ((b"PK\6\7", 8, ones), (b"PK\6\6", 16, b"\1"), (b"PK\6\6", 32, ones), (b"PK\6\6", 40, ones),
                   (b"PK\6\6", 48, ones), (b"PK\5\6", 20, b"\1"), (b"PK\1\2", 0, b"PK\1\3"), (b"PK\1\2", 8, b"\1"),
                   (b"PK\1\2", 10, b"\x0c"), (b"PK\1\2", 28, b"\4"), (b"PK\1\2", 28, b"\xff"), (b"PK\1\2", 34, b"\1"),
                   (b"\x99\x99", 2, b"\xff"), (b"\x99\x99", 7, b"\1"), (b"\x99\x99", 9, ones), (b"\x99\x99", 17, ones),
                   (b"\x99\x99", 25, ones), (b"PK\3\4", 0, b"PK\3\5"), (b"PK\3\4", 26, b"\4"), (b"PK\3\4", 26, b"\xff\xff")):
        yield zip64([change])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/data.pkl", bytes(1 << 12))
    good = stream.getvalue()
    for offset, value in ((24, b"\0\0\1\0"), (24, b"\xff\xff\xff\x3f"), (16, b"\0"), (24, b"\1\x10"), (20, b"\5")):
        archive = bytearray(good)
        at = archive.find(b"PK\1\2") + offset
        archive[at:at + len(value)] = value
        yield bytes(archive)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("m/data.pkl", b"\x80\x02}.")
        archive.writestr("n/data.pkl", b"\x80\x02}.")
    yield stream.getvalue()
    yield stream.getvalue().replace(b"n/data", b"m/data")


def npy(descr="'<f4'", order="False", shape="(1,)", data=b"abcd", version=1):
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + struct.pack("<BB", version, 0) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def npz_seeds():
    yield npy()
    yield npy(version=2)
    yield npy(version=4)
    yield npy(order="True", shape="(2L, 3)", data=bytes(24))
    for descr in ("'<f8'", "'|u1'", "'>f4'", "'|O'", "'<c8'", "[('a', '<f4')]", "''"):
        yield npy(descr)
    for shape in ("()", "(0,)", "(2,)", "(-1,)", "(99999999999999999999,)", "(9223372036854775807, 2)", "1"):
        yield npy(shape=shape)
    yield npy(order="Maybe")
    yield npy().replace(b"descr", b"d\\scr")
    yield npy().replace(b"'shape'", b"'descr'")
    yield npy().replace(b"'shape': (1,), ", b"")
    yield npy().replace(b", }", b"  x")
    yield b"\x93NUMPY\x01"
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", method) as archive:
            archive.writestr("block/kernel.npy", npy(shape="(2, 3)", data=bytes(24)))
            archive.writestr("notes.txt", "hello")
        yield stream.getvalue()


def tensor_shapes(folder):
    """Names and shapes of a model's weights."""
    shapes = {}
    for path in folder.glob("model*.safetensors"):
        data = path.read_bytes()
        header = json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])
        shapes |= {name: entry["shape"] for name, entry in header.items() if name != "__metadata__"}
    for path in folder.glob("*.npz"):
        archive = zipfile.ZipFile(path)
        for name in archive.namelist():
            text = archive.read(name)[10:].split(b"}")[0].decode()
            inside = text.split("(")[1].split(")")[0]
            shapes[name.removesuffix(".npy")] = [int(size) for size in inside.split(",") if size.strip()]
    return shapes


# Values of keys that the golden models do not have, good ones and bad ones.
TRANSFORMERS = {
    "model_type": ["bert", "vit_mae"],
    "hidden_act": ["relu", "swish", "x", 1],
    "image_size": [1, [32, 48], "x"],
    "problem_type": ["multi_label_classification", "single_label_classification", "x"],
    "id2label": [{"0": "a"}, {"x": "a"}, {"0": 1}, {"0": "a", "00": "b"}, {"0": "a", "2": "b"}, {"0": "LABEL_0"}, []],
    "_name_or_path": ["google/vit-base-patch16-224-imagenet"],
    "mlp_ratio": [4, -1],
    "hidden_size": [0, 10**12, None],
}
PROCESSOR = {
    "image_processor_type": ["OtherProcessor", "BitImageProcessorFast", 1],
    "size": [7, -1, "x", {"shortest_edge": 32}, {"height": 1, "width": 2}, [1, 2]],
    "crop_size": [7, {"height": 1, "width": 2}, "x"],
    "resample": [0, 1, 2, 3, 4, 5, 6, "x"],
    "image_mean": [0.5, "x", [1, 2]],
    "image_std": [0, [0, 1, 1]],
    "do_resize": [False, "x"],
    "do_center_crop": [True],
    "rescale_factor": [0, 1],
    "do_pad": [True],
}
PRETRAINED = {
    "input_size": [[3], [3, 0, 0], [1, 32, 32], "x"],
    "interpolation": ["bilinear", "nearest", "random", "x", 1],
    "crop_mode": ["squash", "border", "x"],
    "crop_pct": [9, 1.0, "x"],
    "mean": ["x", 0.5],
    "tag": ["augreg_in21k", "x"],
}
MODEL_ARGS = {
    "act_layer": ["gelu", "gelu_tanh", "quick_gelu", "relu", "silu", "x"],
    "global_pool": ["avg", "map", ""],
    "norm_layer": ["layernorm", "rmsnorm"],
    "img_size": [1, 32, [32], "x"],
    "in_chans": [1],
    "pos_embed": ["none", "x"],
    "dynamic_img_size": [True],
    "pre_norm": [True],
    "other": [1],
}
TIMM = {
    "architecture": ["vit_bass_patch16_224", "vit_base_patch16_224.augreg", "x", 1],
    "label_names": [["a"], [1], {"0": "a"}, 1, ["n02123045"] * 6],
    "label_descriptions": [{"n02123045": "tabby"}],
    "num_classes": [7, -1],
}


def variants(content, changes, inside=None):
    """`content` with one key at a time changed, or left out; `inside` names a nested dictionary."""
    part = content[inside] if inside else content
    changed = [part | {key: value} for key, values in changes.items() for value in values]
    changed += [{k: v for k, v in part.items() if k != key} for key in part]
    for variant in changed:
        yield content | {inside: variant} if inside else variant


def configuration_seeds(golden):
    for folder in sorted((golden / "models").iterdir()):
        shapes = tensor_shapes(folder)
        contents = [{}]
        if (folder / "config.json").exists():
            config = json.loads((folder / "config.json").read_text())
            contents.append(config)
            if folder.name == "hf-vit":
                contents += variants(config, TRANSFORMERS)
            if folder.name == "timm-vit":
                contents += variants(config, TIMM)
                contents += variants(config, PRETRAINED, "pretrained_cfg")
                contents += variants(config, MODEL_ARGS, "model_args")
        for content in contents:
            yield json.dumps(content | {"tensors": shapes}).encode()
            if "pretrained_cfg" in content:
                yield json.dumps(content["pretrained_cfg"]).encode()
        if (folder / "preprocessor_config.json").exists():
            processor = json.loads((folder / "preprocessor_config.json").read_text())
            for content in [processor, *variants(processor, PROCESSOR)]:
                yield json.dumps(content).encode()
        for name in shapes:  # the readers look at these tensors themselves
            if "embed" in name or "cls" in name or name.startswith(("head", "classifier")):
                for shape in ([1], [1, 7, 7, 7], [1, 0, 48]):
                    yield json.dumps(contents[-1] | {"tensors": shapes | {name: shape}}).encode()
    yield b"[" * 100
    yield b'{"a": 1, "a": 2}'
    yield b"\xef\xbb\xbfcat\r\ndog\n\n"
    yield b"cat\n\ndog\n"


def image_seeds(golden):
    for folder in ("images", "pictures"):
        for path in sorted((golden / folder).rglob("*")):
            if path.is_file() and path.suffix not in (".json", ".safetensors", ".md"):
                yield path.read_bytes()[:HEAD]


INSTANCES = [("images", "width", [0, 2.5, 1000000]), ("images", "id", ["a"]),
             ("annotations", "image_id", [77]), ("annotations", "category_id", [77]),
             ("annotations", "iscrowd", [1, 3]), ("annotations", "bbox", [[0, 0, 1], [1, 1, -2, 3]]),
             ("annotations", "segmentation", [
                 None, 7, [[0, 0, 1, 1]], [[0, 0, 1, 0, 1, "x"]], [5], {"size": [9, 9]},
                 {"size": [6, 8], "counts": 4}, {"size": [6, 8], "counts": "5P"},
                 {"size": [6, 8], "counts": [-1]}, {"size": [6, 8], "counts": [47]},
                 {"size": [6, 8], "counts": [40, 8]}, {"size": [6, 8], "counts": "8P1"}])]


def instances_seeds(golden):
    whole = json.loads((golden / "instances/annotations.json").read_text())
    for annotation in whole["annotations"]:
        yield json.dumps(whole | {"annotations": [annotation]}).encode()
    small = {"images": [{"id": 1, "file_name": "a.jpg", "width": 8, "height": 6}],
             "categories": [{"id": 1, "name": "a"}],
             "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 3]}]}
    yield json.dumps(small).encode()
    for key in small:
        yield json.dumps(small | {key: small[key] * 2}).encode()  # ids twice
        yield json.dumps(small | {key: 3}).encode()
    for part, key, values in INSTANCES:
        for value in values:
            yield json.dumps(small | {part: [small[part][0] | {key: value}]}).encode()


def table_seeds():
    """CSV behind a 'c', JSON lines behind a 'j'."""
    for text in ("", "a", "a,b\n1,2\n", "\ufeffa;b\r\n\"x;\"\"y\"\"\";2\r\n\r\n", "a\tb\n1\t\"2\n3\"\n",
                 "a,a\n", "a,b\n1\n", 'a\n"open', 'a\n"x"y\n', 'a,b\n"",""'):
        yield b"c" + text.encode()
    row = json.dumps({"path": "a.jpg", "labels": ["x", "y"], "weight": 2})
    for text in ("", row, f"\ufeff{row}\n \r\n{row}\n", "[1]\n", '{"a": 1, "a": 2}', "{", row + row):
        yield b"j" + text.encode()


def captions_seeds():
    """Captions behind a 'c', results behind an 'r'."""
    for text in ("", "x", "d/a.jpg#0\tA dog\na.jpg#1\t\n\nb.jpg#1\tx\r\n", "a.jpg#0\tx\nb", "a.jpg#0\tx\nb#1",
                 "\ufeffimage,caption\na.jpg,A dog, a cat\na.jpg,\"x\"\n", "image,caption\na\n", "caption,image\na,b,c\n",
                 "image_name| comment_number| comment\na.jpg| 0| A | B\n\nb.jpg| 4 x\n", "image,label\na,b\n"):
        yield b"c" + text.encode()
    yield b"ca.jpg#0\tcaf\xe9\n"
    coco = {"images": [{"id": 1, "file_name": "a"}, {"id": "b", "file_name": "a"}],
            "annotations": [{"image_id": 1, "caption": "x"}, {"image_id": "b", "caption": " "}]}
    image = {"filepath": "d", "filename": "a", "cocoid": 3, "split": "restval",
             "sentences": [{"raw": "x"}, {"tokens": ["x", "y"]}]}
    for whole in [coco, {"images": [image | {"split": split} for split in ("train", "val", "test", "restval")]},
                  *({**coco, key: value} for key in coco for value in (3, [], [3], [{}], coco[key][:1] * 2)),
                  *({"images": [image | change]} for change in (
                      {"split": "dev"}, {"split": None}, {"sentences": 3}, {"sentences": [3]}, {"sentences": [{}]},
                      {"sentences": [{"tokens": [3]}]}, {"filename": 3}, {"filepath": ""}, {"cocoid": 0.5}))]:
        yield b"c" + json.dumps(whole).encode()
    results = [{"image_id": 1, "caption": "x"}, {"image_id": "b", "caption": ""}]
    for whole in (results, {}, [3], [{}], results[:1] * 2, [{"image_id": 1}], [{"image_id": [], "caption": "x"}]):
        yield b"r" + json.dumps(whole).encode()
    said = {"path": "d/a.jpg", "captions": [{"text": "x"}]}
    for lines in ([said, {**said, "path": "b"}], [said, said], [{}], [{**said, "captions": []}],
                  [{**said, "captions": [3]}], [{**said, "path": 3}]):
        yield b"r" + "\n\n".join(json.dumps(line) for line in lines).encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--golden", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    targets = {
        "safetensors": safetensors_seeds(),
        "torch_archive": torch_seeds(arguments.golden),
        "npz": npz_seeds(),
        "configuration": configuration_seeds(arguments.golden),
        "image_header": image_seeds(arguments.golden),
        "instances": instances_seeds(arguments.golden),
        "table": table_seeds(),
        "captions": captions_seeds(),
    }
    for target, seeds in targets.items():
        folder = arguments.out / target
        folder.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds):
            (folder / f"seed{number:03}").write_bytes(seed)


if __name__ == "__main__":
    main()
