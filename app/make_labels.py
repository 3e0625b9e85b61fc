#!/usr/bin/env python3
"""Writes the class names of the ImageNet lists, one a line in the order of a head's outputs.

    make_labels.py TIMM_WHEEL FOLDER

timm (Apache-2.0) ships, for each list that its pretrained heads use, the WordNet synsets in index
order, and the words of every synset. A name is the synset's first word; where two classes of a list
would then be called the same (the crane that flies and the crane that lifts), all of its words.
Uses the standard library only.
"""

import pathlib
import sys
import zipfile
from collections import Counter

# Our name of a list -> timm's file. The size of a head tells them apart.
LISTS = {
    "imagenet-1k": "imagenet_synsets.txt",  # 1000
    "imagenet-12k": "imagenet12k_synsets.txt",  # 11821
    "imagenet-21k": "imagenet21k_goog_synsets.txt",  # 21843: Google's, so AugReg's
    "imagenet-21k-miil": "imagenet21k_miil_synsets.txt",  # 11221
    "imagenet-22k": "imagenet22k_synsets.txt",  # 21841: as the archive of autumn 2011 has it
    "imagenet-22k-ms": "imagenet22k_ms_synsets.txt",  # 21842: Microsoft's order
}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    wheel, folder = zipfile.ZipFile(sys.argv[1]), pathlib.Path(sys.argv[2])

    def lines(name):
        return wheel.read("timm/data/_info/" + name).decode().splitlines()

    words = dict(line.split("\t") for line in lines("imagenet_synset_to_lemma.txt"))
    folder.mkdir(parents=True, exist_ok=True)
    # imagenet-1k is written last, so that its presence says that all of them are there.
    for name in reversed(LISTS):
        synsets = lines(LISTS[name])
        first = [words[synset].split(",")[0].strip() for synset in synsets]
        count = Counter(first)
        names = [short if count[short] == 1 else words[synset] for short, synset in zip(first, synsets)]
        partial = folder / (name + ".partial")
        partial.write_text("\n".join(names) + "\n", encoding="utf-8")
        partial.rename(folder / (name + ".txt"))


main()
