#!/usr/bin/env python3
"""The page of a report in headless Chromium: what it shows is what the maps hold.

    page_test.py MAKE_PAGE [--screenshots FOLDER]
"""

from devtools import SHIFT
from page_case import PageCase, numbers, run

LAYERS, HEADS, SIDE = 12, 12, 14
CELLS = SIDE * SIDE
LEFT, TOP, CELL = 90.5, 15, 270 / SIDE  # as make_page places the grid in the photo


class Maps:
    """The numbers that the page was made of."""

    def __init__(self, path):
        self.values = numbers(path)

    def layer(self, number):
        return (number - 1) * (HEADS + CELLS) * CELLS

    def head(self, layer, head):
        start = self.layer(layer) + (head - 1) * CELLS
        return self.values[start:start + CELLS]

    def mean(self, layer):
        heads = [self.head(layer, head) for head in range(1, HEADS + 1)]
        return [sum(values) / HEADS for values in zip(*heads)]

    def patch(self, layer, cell):
        start = self.layer(layer) + (HEADS + cell) * CELLS
        return self.values[start:start + CELLS]


class PageTest(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.maps = Maps(cls.path / "maps.bin")

    def place(self, row, column):
        """Where the centre of a cell is in the window; rows and columns from 1."""
        box = self.browser.evaluate(
            "(() => {const b = document.getElementById('photo').getBoundingClientRect();"
            "return [b.left, b.top, b.width, b.height]})()")
        x, y = LEFT + (column - 0.5) * CELL, TOP + (row - 0.5) * CELL
        return box[0] + x / 451 * box[2], box[1] + y / 300 * box[3]

    def assert_reads(self, row, column, values):
        """The readout names the cell and its value: to half a step, and as four digits round it."""
        said = self.browser.text("readout")
        self.assertIn(f"row {row}, column {column}", said)
        shown = float(self.browser.text("value"))
        expected = values[(row - 1) * SIDE + column - 1]
        step = (max(values) - min(values)) / 255
        self.assertAlmostEqual(shown, expected, delta=step / 2 + abs(expected) * 5e-4)

    def click(self, row, column):
        self.browser.click(*self.place(row, column))

    def test_the_last_layer_comes_first(self):
        self.open()
        self.assertEqual(self.browser.text("shown"),
                         "Layer 12 · mean of heads · attention from the class token")
        mean = self.maps.mean(12)
        for name, expected in (("low", min(mean)), ("high", max(mean))):
            self.assertAlmostEqual(float(self.browser.text(name)), expected, delta=5e-4 * expected)

    def test_a_clicked_patch_shows_what_it_attends_to(self):
        self.open()
        self.click(5, 4)
        self.assertIn("mean of heads · attention from the patch in row 5, column 4",
                      self.browser.text("shown"))
        attended = self.maps.patch(12, 4 * SIDE + 3)
        self.assert_reads(5, 4, attended)
        self.browser.move(*self.place(9, 12))
        self.assert_reads(9, 12, attended)
        self.browser.press("Escape")
        self.assertIn("the class token", self.browser.text("shown"))

    def test_a_finger_chooses_a_patch(self):
        self.open(width=390)
        self.browser.tap(*self.place(12, 3))
        self.assert_reads(12, 3, self.maps.patch(12, 11 * SIDE + 2))
        self.browser.tap(*self.place(12, 3))  # once more lets go of it
        self.assertIn("the class token", self.browser.text("shown"))

    def test_the_pointer_reads_the_map_and_shows_the_patch(self):
        self.open()
        self.browser.move(*self.place(11, 9))
        self.assert_reads(11, 9, self.maps.mean(12))
        self.assertIn("the patch in row 11, column 9", self.browser.text("shown"))
        self.browser.evaluate("document.getElementById('follow').click()")
        self.assertIn("the class token", self.browser.text("shown"))
        self.browser.move(2, 2)
        self.assertIn("Choose a patch", self.browser.text("readout"))

    def test_all_cells_of_a_head(self):
        self.open()
        self.browser.evaluate(
            "document.getElementById('follow').click();"
            "document.getElementById('heads').children[7].click()")
        self.assertIn("head 6", self.browser.text("shown"))
        for row in range(1, SIDE + 1, 3):
            for column in range(1, SIDE + 1, 2):
                self.browser.move(*self.place(row, column))
                self.assert_reads(row, column, self.maps.head(12, 7))

    def test_the_overlay_has_the_colours_of_the_values(self):
        self.open()
        self.browser.evaluate(
            "document.getElementById('opacity').value = 100;"
            "document.getElementById('opacity').dispatchEvent(new Event('input'))")
        mean = self.maps.mean(12)
        least, most = mean.index(min(mean)), mean.index(max(mean))
        # The ends of viridis, and within the photo but outside of the crop the shade over it.
        for cell, colour in ((least, [0x44, 0x01, 0x54, 255]), (most, [0xfd, 0xe7, 0x25, 255])):
            x, y = self.place(cell // SIDE + 1, cell % SIDE + 1)
            self.assertEqual(self.pixel(x, y), colour)
        self.assertEqual(self.pixel(*self.place(7, 0))[3], round(0.72 * 255))

    def test_arrows_move_layer_and_head(self):
        self.open()
        self.browser.press("ArrowLeft")
        self.browser.press("ArrowLeft")
        self.browser.press("ArrowRight", SHIFT)
        self.assertIn("Layer 10 · head 0 ·", self.browser.text("shown"))
        self.click(3, 3)
        self.assert_reads(3, 3, self.maps.patch(10, 2 * SIDE + 2))
        for _ in range(4):
            self.browser.press("ArrowRight")  # the photo has the focus now: columns
        self.assert_reads(3, 7, self.maps.patch(10, 2 * SIDE + 6))
        self.browser.press("ArrowDown")
        self.assert_reads(4, 7, self.maps.patch(10, 3 * SIDE + 6))

    def test_the_tab_key_reaches_every_control(self):
        self.open()
        order = []
        for _ in range(8):
            self.browser.press("Tab")
            order.append(self.browser.evaluate(
                "document.activeElement.closest('[id]')?.id"))
        self.assertEqual(order, ["stage", "opacity", "smooth", "shared", "follow", "tabs", "layer",
                                 "heads"])
        self.assertEqual(self.browser.evaluate(
            "getComputedStyle(document.activeElement).outlineStyle"), "solid")
        self.browser.press("ArrowRight")
        self.assertIn("head 0", self.browser.text("shown"))
        self.browser.press("ArrowDown")
        self.assertIn("Layer 11 · head 0", self.browser.text("shown"))

    def test_methods_have_tabs(self):
        self.open()
        self.browser.evaluate("document.getElementById('tabs').children[3].click()")
        self.assertEqual(self.browser.text("shown"), "Occlusion for “cat”")
        self.assertIn("covered", self.browser.text("what"))
        self.assertLess(float(self.browser.text("low")), 0)
        self.assertFalse(
            self.browser.evaluate("document.getElementById('layer').checkVisibility()"))

    def test_one_scale_for_all(self):
        self.open()
        self.browser.evaluate("document.getElementById('shared').click()")
        most = max(max(self.maps.head(layer, head)) for layer in range(1, LAYERS + 1)
                   for head in range(1, HEADS + 1))
        self.assertAlmostEqual(float(self.browser.text("high")), most, delta=5e-4 * most)

    def test_hostile_texts_are_texts(self):
        self.open("hostile")
        labels = self.browser.evaluate(
            "[...document.querySelectorAll('#predictions span:first-child')]"
            ".map((line) => line.textContent)")
        self.assertEqual(labels[:3], ["<script>alert(1)</script>", '"></script>', "<!--<script>"])
        self.assertEqual(
            self.browser.evaluate("document.title"), "</title><script>alert(2)</script>")
        self.assertEqual(self.browser.evaluate("document.getElementById('photo').alt"),
                         "caf\\xE9 <img src=x onerror=alert(4)>.jpg")
        self.assertEqual(self.browser.evaluate("document.scripts.length"), 2)
        self.assertEqual(self.browser.evaluate("document.images.length"), 1)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('svg').length"), 0)

    def test_a_constant_map_is_said_to_be_one(self):
        self.open("hostile")
        self.browser.evaluate("document.getElementById('heads').children[2].click()")
        self.assertIn("the same value everywhere", self.browser.text("shown"))
        self.assertNotIn("NaN", self.browser.evaluate("document.body.innerText"))
        self.assertIn("all patches, averaged", self.browser.text("shown"))

    def test_a_layer_without_patches_says_so(self):
        self.open("hostile")
        self.browser.evaluate("document.getElementById('stage').focus()")
        self.browser.press("ArrowUp")
        self.assertIn("row 2, column 2", self.browser.text("readout"))
        # The mean of 5 and 7, on a scale from 4 to 8.
        self.assertAlmostEqual(float(self.browser.text("value")), 6, delta=4 / 255 / 2 + 5e-4)
        self.assertIn("not kept", self.browser.text("readout"))
        for _ in range(3):  # the grid ends after one
            self.browser.press("ArrowRight")
        self.assertIn("row 2, column 3", self.browser.text("readout"))
        self.assertEqual(float(self.browser.text("value")), 8)

    def test_the_policy_forbids_the_network_and_foreign_scripts(self):
        self.open()
        self.assert_policy()

    def test_no_width_scrolls_sideways(self):
        self.assert_no_width_scrolls("sample", "hostile")
        self.open(width=390)
        photo, tabs = (self.browser.evaluate(
            f"document.getElementById('{name}').getBoundingClientRect().{edge}")
            for name, edge in (("photo", "bottom"), ("tabs", "top")))
        self.assertLess(photo, tabs)  # one column


def touch_the_photo(browser):
    browser.press("Tab")
    browser.press("ArrowUp")


if __name__ == "__main__":
    run(PageTest, ("sample", "hostile"), touch_the_photo)
