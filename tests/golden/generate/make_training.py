"""What PyTorch and timm give where classification_metrics/ has nothing: the asymmetric loss, SGD,
Mixup and CutMix.

    make_training.py            writes ../training.json

Everything is float64 but where it says so. Needs torch and timm.
"""

import json
import pathlib

import numpy
import torch
from timm.data.mixup import cutmix_bbox_and_lam, mixup_target
from timm.loss import AsymmetricLossMultiLabel

GOLDEN = pathlib.Path(__file__).resolve().parent.parent


def asymmetric():
    """The paper's formula in float64, summed over classes, mean over samples; timm, which computes
    in float32, must agree."""
    logits = torch.randn(4, 6).double() * 3
    targets = (torch.rand(4, 6) < 0.4).double()
    cases = []
    for positive, negative, margin in [(1, 4, 0.05), (0, 2, 0), (1, 3, 0.2), (0, 0, 0), (0, 0, 0.3)]:
        z = logits.clone().requires_grad_()
        p = z.sigmoid()
        shifted = (p - margin).clamp(min=0)
        loss = -(targets * (1 - p) ** positive * p.log()
                 + (1 - targets) * shifted ** negative * (1 - shifted).log()).sum(1).mean()
        timm = AsymmetricLossMultiLabel(gamma_neg=negative, gamma_pos=positive, clip=margin)
        assert abs(timm(logits, targets).item() - loss.item()) < 2e-6 * loss.item()
        loss.backward()
        cases.append({"positive_gamma": positive, "negative_gamma": negative, "margin": margin,
                      "loss": loss.item(), "gradient": z.grad.flatten().tolist()})
    return {"logits": logits.flatten().tolist(), "targets": targets.flatten().tolist(),
            "classes": 6, "cases": cases}


def sgd():
    gradients = torch.randn(4, 5).double()
    start = torch.randn(5).double()
    runs = []
    for momentum, nesterov, decay in [(0.9, False, 0.1), (0.9, True, 0.1), (0.0, False, 0.0)]:
        weight = start.clone().requires_grad_()
        method = torch.optim.SGD([weight], lr=0.1, momentum=momentum, nesterov=nesterov,
                                 weight_decay=decay, foreach=False, fused=False)
        steps = []
        for t, gradient in enumerate(gradients):
            method.param_groups[0]["lr"] = 0.1 / (t + 1)
            weight.grad = gradient.clone()
            method.step()
            steps.append(weight.tolist())
        runs.append({"momentum": momentum, "nesterov": nesterov, "weight_decay": decay,
                     "steps": steps})
    return {"start": start.tolist(), "gradients": gradients.tolist(), "runs": runs}


def mixing():
    pixels = torch.randn(3, 2, 6, 5).double()
    labels = torch.tensor([2, 0, 1])
    reversed_pixels = pixels.flip(0)
    blended = pixels * 0.3 + reversed_pixels * 0.7
    (top, bottom, left, right), lam = cutmix_bbox_and_lam(pixels.shape, 0.4)
    top, bottom, left, right = map(int, (top, bottom, left, right))
    cut = pixels.clone()
    cut[:, :, top:bottom, left:right] = reversed_pixels[:, :, top:bottom, left:right]
    return {
        "shape": list(pixels.shape), "pixels": pixels.flatten().tolist(),
        "labels": labels.tolist(),
        "mixup": {"lambda": 0.3, "pixels": blended.flatten().tolist(),
                  "targets": mixup_target(labels, 3, 0.3).flatten().tolist()},
        "cutmix": {"box": [top, left, bottom, right], "lambda": float(lam),
                   "pixels": cut.flatten().tolist(),
                   "targets": mixup_target(labels, 3, float(lam)).flatten().tolist()},
    }


def main():
    torch.manual_seed(3)
    numpy.random.seed(3)
    result = {"asymmetric": asymmetric(), "sgd": sgd(), "mixing": mixing()}
    (GOLDEN / "training.json").write_text(json.dumps(result) + "\n")


main()
