"""The weighted vote of the nearest photos, as scikit-learn counts it, and gradients of its logits.

    make_neighbours.py      writes ../neighbours.safetensors

Needs numpy, scikit-learn, torch and safetensors.
"""

import pathlib

import numpy as np
import torch
from safetensors.torch import save_file
from sklearn.neighbors import KNeighborsClassifier

GOLDEN = pathlib.Path(__file__).resolve().parent.parent
PHOTOS = [9, 0, 8, 7]  # of each class; nobody votes for the second
COUNT, TEMPERATURE = 7, 0.3


def shares(features, labels, queries):
    """What scikit-learn says of the queries, [queries, classes]."""
    voters = KNeighborsClassifier(COUNT, metric="cosine", algorithm="brute",
                                  weights=lambda distance: np.exp((1 - distance) / TEMPERATURE))
    voters.fit(features.double().numpy(), labels)
    result = torch.zeros(len(queries), len(PHOTOS), dtype=torch.float64)
    result[:, voters.classes_] = torch.tensor(voters.predict_proba(queries.double().numpy()))
    return result


def gradients(features, labels, queries, coefficients):
    """Of the logits, times coefficients; those of classes without a vote are constants."""
    queries = queries.double().requires_grad_()
    cosines = torch.nn.functional.cosine_similarity(queries[:, None], features.double()[None], dim=2)
    total = 0
    for row, weights in zip(cosines / TEMPERATURE, coefficients.double()):
        nearest = row.argsort(descending=True)[:COUNT]
        for label in labels[nearest].unique():
            total = total + weights[label] * row[nearest][labels[nearest] == label].logsumexp(0)
    total.backward()
    return queries.grad


def main():
    torch.manual_seed(5)
    labels = torch.repeat_interleave(torch.arange(len(PHOTOS)), torch.tensor(PHOTOS))
    centres = 0.5 * torch.randn(len(PHOTOS), 6)
    features = torch.nn.functional.normalize(torch.randn(len(labels), 6) + centres[labels])
    queries = 3 * torch.randn(5, 6)
    coefficients = torch.randn(5, len(PHOTOS))
    votes = shares(features, labels, queries)
    save_file({"features": features, "queries": queries, "coefficients": coefficients,
               "shares": votes.float(),
               "grad.queries": gradients(features, labels, queries, coefficients).float()},
              GOLDEN / "neighbours.safetensors")
    print(votes)


main()
