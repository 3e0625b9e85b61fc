"""What compare_speed.py measures of Python, each in a process of its own:

    python_side.py prepare FOLDER
    python_side.py forward timm|onnxruntime FOLDER THREADS BATCH REPEAT   -> milliseconds, median
    python_side.py pipeline MODEL PHOTO                                   -> the likeliest label
    python_side.py folder PHOTOS THREADS                                  -> seconds of the loop
    python_side.py train fp32|bf16 THREADS BATCH STEPS                    -> images a second
    python_side.py head FEATURES LABELS THREADS                           -> seconds of the fit
"""

import os
import statistics
import sys
import time
from pathlib import Path


def save_model(folder, **widths):
    """A transformers directory with random weights."""
    import torch
    from transformers import ViTConfig, ViTForImageClassification, ViTImageProcessor

    torch.manual_seed(1)
    labels = {i: f"class {i}" for i in range(1000)}
    config = ViTConfig(**widths, id2label=labels, label2id={name: i for i, name in labels.items()})
    ViTForImageClassification(config).save_pretrained(folder)
    ViTImageProcessor().save_pretrained(folder)


def draw_photos(folder, count, size=(500, 375)):
    """JPEGs of a photo's size and detail: smooth noise of several scales."""
    import numpy
    from PIL import Image

    random = numpy.random.default_rng(1)
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(count):
        total = numpy.zeros((size[1], size[0], 3))
        for scale in (4, 16, 64, 250):
            noise = random.integers(0, 256, (scale * 3 // 4, scale, 3), dtype=numpy.uint8)
            total += numpy.asarray(Image.fromarray(noise).resize(size, Image.BICUBIC), float)
        Image.fromarray((total / 4).astype(numpy.uint8)).save(folder / f"{i:04}.jpg", quality=90)


def prepare(folder):
    import torch
    import timm

    if not (folder / "vit-base" / "model.safetensors").exists():
        save_model(folder / "vit-base")
    if not (folder / "vit-small" / "model.safetensors").exists():
        save_model(folder / "vit-small", hidden_size=384, num_attention_heads=6, intermediate_size=1536)
    if not (folder / "photos" / "0499.jpg").exists():
        draw_photos(folder / "photos", 500)
    if not (folder / "vit-base.onnx").exists():
        network = timm.create_model("vit_base_patch16_224").eval()
        torch.onnx.export(network, torch.zeros(8, 3, 224, 224), str(folder / "vit-base.onnx"),
                          dynamo=False, input_names=["pixels"], dynamic_axes={"pixels": {0: "batch"}})


def median_milliseconds(forward, repeat):
    forward()
    forward()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        forward()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def forward(library, folder, threads, batch, repeat):
    if library == "timm":
        import timm
        import torch

        torch.set_num_threads(threads)
        network = timm.create_model("vit_base_patch16_224").eval()
        pixels = torch.randn(batch, 3, 224, 224)
        with torch.inference_mode():
            print(median_milliseconds(lambda: network(pixels), repeat))
    else:
        import numpy
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(
            str(folder / "vit-base.onnx"), options, providers=["CPUExecutionProvider"])
        pixels = numpy.random.default_rng(1).standard_normal((batch, 3, 224, 224)).astype("float32")
        print(median_milliseconds(lambda: session.run(None, {"pixels": pixels}), repeat))


def pipeline(model, photo):
    from transformers import pipeline as make_pipeline

    print(make_pipeline("image-classification", model=model)(photo)[0]["label"])


def folder(photos, threads):
    """timm as its users run it: the model's own transform, a DataLoader with a worker a core."""
    import timm
    import torch
    from PIL import Image

    class Photos(torch.utils.data.Dataset):
        def __init__(self, transform):
            self.files = sorted(Path(photos).iterdir())
            self.transform = transform

        def __len__(self):
            return len(self.files)

        def __getitem__(self, index):
            return self.transform(Image.open(self.files[index]).convert("RGB"))

    torch.set_num_threads(threads)
    network = timm.create_model("vit_small_patch16_224").eval()
    transform = timm.data.create_transform(**timm.data.resolve_data_config({}, model=network))
    start = time.perf_counter()
    loader = torch.utils.data.DataLoader(Photos(transform), batch_size=32, num_workers=threads)
    with torch.inference_mode():
        seen = sum(len(network(batch).softmax(1).topk(5)[1]) for batch in loader)
    assert seen == len(loader.dataset)
    print(time.perf_counter() - start)


def train(precision, threads, batch, steps):
    """timm in PyTorch's eager mode, as its users train: AdamW, label smoothing, clipping, autocast."""
    import timm
    import torch

    torch.set_num_threads(threads)
    network = timm.create_model("vit_small_patch16_224", num_classes=10).train()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4, weight_decay=0.05, fused=True)
    loss = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
    pixels, labels = torch.randn(batch, 3, 224, 224), torch.randint(10, (batch,))

    def step():
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            logits = network(pixels)
        loss(logits.float(), labels).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()

    step()
    start = time.perf_counter()
    for _ in range(steps):
        step()
    print(batch * steps / (time.perf_counter() - start))


def head(features, labels, threads):
    """LogisticRegression on standardised features of the training photos, as scikit-learn advises."""
    import csv
    import json

    import torch
    from safetensors import safe_open
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    torch.set_num_threads(threads)
    with safe_open(features, "pt") as file:
        rows = file.get_tensor("features").numpy()
        photos = json.loads(file.metadata()["photos"])
    with open(labels) as file:
        known = {row["path"]: row for row in csv.DictReader(file)}
    # A photo's key begins with its path.
    wanted = [(i, row["label"]) for i, key in enumerate(photos)
              for path, row in known.items() if path in key and row["split"] == "train"]
    x, y = rows[[i for i, _ in wanted]], [label for _, label in wanted]
    start = time.perf_counter()
    make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(x, y)
    print(time.perf_counter() - start)


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    action, *words = sys.argv[1:]
    if action == "prepare":
        prepare(Path(words[0]))
    elif action == "forward":
        forward(words[0], Path(words[1]), *map(int, words[2:]))
    elif action == "pipeline":
        pipeline(*words)
    elif action == "train":
        train(words[0], *map(int, words[1:]))
    elif action == "head":
        head(words[0], words[1], int(words[2]))
    else:
        folder(words[0], int(words[1]))
