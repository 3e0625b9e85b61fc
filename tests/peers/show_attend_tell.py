"""Show, Attend and Tell's decoder (Xu et al. 2015) in PyTorch, as one writes it for speed.

All photos and all beams go through every step together, without gradients; what of the attention
depends on the photo alone is computed once; the annotations are never repeated for the beams, nor
copied; the largest tensor lies in one buffer; nothing waits for a number of a tensor.
"""

import torch
from torch.nn.functional import embedding, linear

START = 1


def random_weights(vocabulary, width, annotation):
    """By the names of decoder.safetensors; the four special tokens are never likely."""
    def normal(*shape):
        return torch.randn(*shape) * shape[-1] ** -0.5

    names = {"embedding.weight": (vocabulary, width), "att.W_f": (width, annotation),
             "att.W_h": (width, width), "att.b": (width,), "att.v": (width,), "gate.w": (width,),
             "gate.b": (1,), "init_h.weight": (width, annotation), "init_h.bias": (width,),
             "init_c.weight": (width, annotation), "init_c.bias": (width,),
             "lstm.weight_ih": (4 * width, width + annotation), "lstm.weight_hh": (4 * width, width),
             "lstm.bias_ih": (4 * width,), "lstm.bias_hh": (4 * width,), "out.L_h": (width, width),
             "out.L_z": (width, annotation), "out.L_o": (vocabulary, width), "out.b": (vocabulary,)}
    weights = {name: normal(*shape) for name, shape in names.items()}
    # Livelier than at the beginning of training, so that photos get sentences of their own.
    for name in ("att.W_f", "att.W_h", "att.v", "lstm.weight_ih", "lstm.weight_hh", "out.L_o"):
        weights[name] *= 4
    weights["embedding.weight"] *= width ** 0.5
    weights["out.b"][:4] = -1e4
    return weights


class Decoder:
    def __init__(self, weights):
        self.w = weights

    @torch.inference_mode()
    def captions(self, annotations, beam=3, length=20):
        """The likeliest sentence of each photo.

        annotations [B, L, D]. Returns tokens [B, T], their log-probabilities [B, T], and where each
        looked [B, T, L].
        """
        w, (photos, places, width) = self.w, annotations.shape
        vocabulary = w["out.L_o"].size(0)
        keys = linear(annotations, w["att.W_f"], w["att.b"]).unsqueeze(1)
        mean = annotations.mean(1)
        state = (linear(mean, w["init_h.weight"], w["init_h.bias"]).tanh_(),
                 linear(mean, w["init_c.weight"], w["init_c.bias"]).tanh_())
        sums = torch.empty(photos, beam, places, keys.size(-1))
        tokens, score = torch.full((photos,), START), torch.zeros(photos, 1, 1)
        photo = torch.arange(photos).unsqueeze(1)
        rows, steps = 1, []
        for _ in range(length):
            word = embedding(tokens, w["embedding.weight"])
            query = linear(state[0], w["att.W_h"]).view(photos, rows, 1, -1)
            seen = torch.add(query, keys, out=sums) if rows == beam else query + keys
            weights = seen.tanh_().matmul(w["att.v"]).softmax(-1)
            context = torch.bmm(weights, annotations).view(photos * rows, width)
            context *= torch.addmv(w["gate.b"], state[0], w["gate.w"]).sigmoid_().unsqueeze(1)
            hidden, cell = torch.lstm_cell(torch.cat((word, context), 1), state, w["lstm.weight_ih"],
                                           w["lstm.weight_hh"], w["lstm.bias_ih"], w["lstm.bias_hh"])
            features = word.addmm_(hidden, w["out.L_h"].t()).addmm_(context, w["out.L_z"].t()).tanh_()
            log_probs = linear(features, w["out.L_o"], w["out.b"]).log_softmax(-1)
            total = log_probs.view(photos, rows, vocabulary).add_(score)
            best, place = total.view(photos, -1).topk(beam)
            parent, token = place // vocabulary, place % vocabulary
            steps.append((token, parent, best, weights))
            score = best.unsqueeze(2)
            kept = (parent + photo * rows).view(-1)
            state, tokens, rows = (hidden[kept], cell[kept]), token.view(-1), beam
        return self.best_sentences(steps)

    @staticmethod
    def best_sentences(steps):
        """The first beam of the last step, followed back."""
        place = torch.zeros(steps[0][0].size(0), 1, dtype=torch.long)
        photo = torch.arange(place.size(0))
        tokens, sums, looked = [], [], []
        for token, parent, best, weights in reversed(steps):
            tokens.append(token.gather(1, place))
            sums.append(best.gather(1, place))
            place = parent.gather(1, place)
            looked.append(weights[photo, place.squeeze(1)])
        sums = torch.cat(sums[::-1], 1)
        return (torch.cat(tokens[::-1], 1), sums.diff(dim=1, prepend=torch.zeros(sums.size(0), 1)),
                torch.stack(looked[::-1], 1))
