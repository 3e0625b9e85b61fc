#!/usr/bin/env python3
"""Draws a photo beside what classify said of it: the picture at the top of the project's README.

usage: vitascope classify PHOTO --model MODEL --format json | draw_answer.py OUTPUT.png   (needs Pillow)
"""

import json
import sys

from PIL import Image, ImageDraw, ImageFont

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
INK, SOFT, BAR, PAPER = (33, 37, 41), (108, 117, 125), (38, 132, 141), (255, 255, 255)


def main():
    answer = json.loads(sys.stdin.readline())
    photo = Image.open(answer["path"]).convert("RGB")
    height = 300
    photo = photo.resize((photo.width * height // photo.height, height), Image.Resampling.LANCZOS)
    picture = Image.new("RGB", (photo.width + 470, height), PAPER)
    picture.paste(photo, (0, 0))
    draw = ImageDraw.Draw(picture)
    name, number = ImageFont.truetype(FONT, 20), ImageFont.truetype(FONT, 16)
    left, row = photo.width + 30, height / (len(answer["predictions"]) + 0.4)
    for i, prediction in enumerate(answer["predictions"]):
        top = row * (i + 0.25)
        draw.text((left, top), prediction["label"], INK, name)
        end = left + 340 * prediction["probability"]
        draw.rectangle([left, top + 29, end + 2, top + 41], fill=BAR)
        draw.text((end + 12, top + 26), f"{prediction['probability']:.1%}", SOFT, number)
    picture.save(sys.argv[1], optimize=True)


if __name__ == "__main__":
    main()
