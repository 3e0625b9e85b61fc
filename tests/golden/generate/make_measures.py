"""What scikit-learn and scipy give where classification_metrics/ has nothing: several labels a
sample, McNemar's test, the best temperature, class weights.

    make_measures.py            writes ../measures.json

Numbers are exact in the JSON (float64). Needs numpy, scikit-learn, scipy and safetensors.
"""

import json
import pathlib

import numpy as np
from safetensors.numpy import load_file
from scipy import optimize, special, stats
from sklearn import metrics
from sklearn.utils.class_weight import compute_class_weight

GOLDEN = pathlib.Path(__file__).resolve().parent.parent


def multi_label(generator):
    """40 samples, 5 classes: class 3 of nobody, scores rounded so that some are equal."""
    truth = generator.random((40, 5)) < [0.5, 0.3, 0.1, 0, 0.7]
    truth[0] = False
    scores = np.round(np.clip(generator.random((40, 5)) * 0.7 + 0.3 * truth, 0, 1), 2)
    scores[:, 1] = np.round(scores[:, 1], 1)
    predicted = scores >= 0.5
    present = [c for c in range(5) if truth[:, c].any()]
    precisions = {c: metrics.average_precision_score(truth[:, c], scores[:, c]) for c in present}
    rates = {name: metrics.precision_recall_fscore_support(
        truth, predicted, average=name, zero_division=0)[:3] for name in ("micro", "macro")}
    return {
        "labels": [np.flatnonzero(row).tolist() for row in truth], "classes": 5,
        "scores": scores.ravel().tolist(),
        "average_precision": [precisions.get(c) for c in range(5)],
        "mean_average_precision": float(np.mean(list(precisions.values()))),
        "micro": list(map(float, rates["micro"])), "macro": list(map(float, rates["macro"])),
    }


def mcnemar(first_only, second_only):
    trials = first_only + second_only
    statistic = max(0, abs(first_only - second_only) - 1) ** 2 / trials
    return {"first_only": first_only, "second_only": second_only,
            "exact": stats.binomtest(first_only, trials, 0.5).pvalue,
            "statistic": statistic, "corrected": float(stats.chi2.sf(statistic, 1))}


def best_temperature():
    stored = load_file(GOLDEN / "classification_metrics/predictions.safetensors")
    logits = stored["logits"].astype(np.float64)
    labels = stored["labels"].astype(int)

    def slope(inverse):
        p = special.softmax(inverse * logits, axis=1)
        return float(((p * logits).sum(1) - logits[np.arange(len(labels)), labels]).mean())

    return 1 / optimize.brentq(slope, 1e-2, 1e2, xtol=1e-15, rtol=1e-14)


def class_weights(counts):
    samples = np.repeat(np.arange(len(counts)), counts)
    present = np.unique(samples)
    balanced = np.zeros(len(counts))
    balanced[present] = compute_class_weight("balanced", classes=present, y=samples)
    effective = np.zeros(len(counts))
    beta = 0.999
    effective[present] = (1 - beta) / (1 - beta ** np.array(counts, dtype=np.float64)[present])
    effective *= len(present) / effective.sum()
    return {"counts": counts, "inverse": balanced.tolist(), "beta": beta,
            "effective_number": effective.tolist()}


def main():
    result = {
        "multi_label": multi_label(np.random.default_rng(7)),
        "mcnemar": [mcnemar(*pair) for pair in
                    [(1, 0), (4, 5), (10, 2), (2, 10), (59, 37), (6, 6), (480, 530), (40, 900)]],
        "temperature": best_temperature(),
        "class_weights": [class_weights(c) for c in ([10, 90, 900], [5, 0, 20, 1], [7, 7])],
    }
    (GOLDEN / "measures.json").write_text(json.dumps(result) + "\n")


main()
