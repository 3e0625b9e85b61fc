#!/usr/bin/env python3
"""The page of captions in headless Chromium: each word shows where it looked.

    caption_page_test.py MAKE_PAGE [--screenshots FOLDER]
"""

from page_case import PageCase, numbers, run

SIDE = 14
CELLS = SIDE * SIDE
LEFT, TOP, CELL = 90.5, 15, 270 / SIDE  # as make_page places the grid in the first photo
NOTHING = "Choose a word to see where it looked."
# Words of the captions in the order in which make_page writes their weights.
FIRST, SECOND, HARD = 0, 5, 8


class CaptionPageTest(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.weights = numbers(cls.path / "captions.bin")

    def open(self, name="captions", *size, **options):
        super().open(name, *size, **options)

    def part(self, name, photo=0):
        return f"document.querySelectorAll('article')[{photo}].querySelector('{name}')"

    def words(self, photo=0):
        return f"{self.part('.words', photo)}.children"

    def read(self, name, photo=0):
        return self.browser.evaluate(f"{self.part(name, photo)}.textContent")

    def middle(self, found):
        """Where the middle of an element is in the window, after it was scrolled there."""
        return self.browser.evaluate(
            f"(() => {{const e = {found}; e.scrollIntoView({{block: 'center'}});"
            "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]})()")

    def hover(self, word, photo=0):
        self.browser.move(*self.middle(f"{self.words(photo)}[{word}]"))

    def leave(self):
        self.browser.move(2, 2)

    def weight(self, caption, word, cell=None):
        of_word = self.weights[(caption + word) * CELLS:(caption + word + 1) * CELLS]
        return of_word if cell is None else of_word[cell]

    def pixel_of(self, row, column, photo=0, left=LEFT, top=TOP, width=CELL, height=CELL):
        """What is drawn over the middle of a cell; rows and columns from 1."""
        box = self.browser.evaluate(
            f"(() => {{const b = {self.part('img', photo)}.getBoundingClientRect();"
            "return [b.x, b.y, b.width, b.height]})()")
        x = box[0] + (left + (column - 0.5) * width) / 451 * box[2]
        y = box[1] + (top + (row - 0.5) * height) / 300 * box[3]
        return self.pixel(x, y, self.part(".overlay", photo))

    def fully_opaque(self):
        self.browser.evaluate(
            "document.getElementById('opacity').value = 100;"
            "document.getElementById('opacity').dispatchEvent(new Event('input'))")

    def test_a_word_under_the_pointer_shows_where_it_looked(self):
        self.open()
        self.fully_opaque()
        self.assertEqual(self.read(".readout"), NOTHING)
        self.hover(2)
        cat = self.weight(FIRST, 2)
        most, least = max(cat), min(cat)
        self.assertEqual(cat.index(most), 5 * SIDE + 6)
        self.assertIn("“cat” looked most at row 6, column 7", self.read(".readout"))
        self.assertIn("log-probability −0.223 (80.0\u00a0%)", self.read(".readout"))
        self.assertAlmostEqual(float(self.read(".high")), most, delta=5e-4 * most)
        self.assertAlmostEqual(float(self.read(".low")), least, delta=5e-4 * least)
        # The ends of viridis, and outside of the crop the shade over the photo.
        self.assertEqual(self.pixel_of(6, 7), [0xfd, 0xe7, 0x25, 255])
        far = cat.index(least)
        self.assertEqual(self.pixel_of(far // SIDE + 1, far % SIDE + 1), [0x44, 0x01, 0x54, 255])
        self.assertEqual(self.pixel_of(7, 0)[3], round(0.72 * 255))

    def test_the_photo_comes_back_when_the_pointer_leaves(self):
        self.open()
        self.hover(2)
        self.assertGreater(self.pixel_of(6, 7)[3], 0)
        self.leave()
        self.assertEqual(self.pixel_of(6, 7)[3], 0)
        self.assertEqual(self.pixel_of(7, 0)[3], round(0.72 * 255))  # was not seen, word or none
        self.assertEqual(self.read(".readout"), NOTHING)
        self.assertEqual(self.read(".high"), "")

    def test_every_word_has_a_scale_of_its_own(self):
        self.open()
        for word in (1, 2, 3, 4):
            self.hover(word)
            most = max(self.weight(FIRST, word))
            self.assertAlmostEqual(float(self.read(".high")), most, delta=5e-4 * most)
        self.assertIn("The end looked most at row 13, column 13", self.read(".readout"))
        self.assertIn("Each word has a colour scale of its own",
                      self.browser.evaluate("document.querySelector('.legend').innerText"))

    def test_attention_that_is_even_is_said_to_be(self):
        self.open()
        self.hover(0)
        self.assertIn("“a” looked everywhere alike (weight 0.005102)", self.read(".readout"))

    def test_keys_step_through_the_words(self):
        self.open()
        order = []
        for _ in range(6):
            self.browser.press("Tab")
            order.append(self.browser.evaluate(
                "document.activeElement.id || document.activeElement.className ||"
                "document.activeElement.textContent || document.activeElement.type"))
        self.assertEqual(order, ["opacity", "smooth", "looking", "play", "radio", "looking"])
        self.open()
        for _ in range(3):
            self.browser.press("Tab")
        self.assertIn("“a” looked everywhere", self.read(".readout"))
        self.assertEqual(self.browser.evaluate(
            "getComputedStyle(document.activeElement).outlineStyle"), "solid")
        self.browser.press("ArrowRight")
        self.browser.press("ArrowRight")
        self.assertIn("“cat” looked most at row 6, column 7", self.read(".readout"))
        self.browser.press("ArrowLeft")
        self.assertIn("“small”", self.read(".readout"))
        self.browser.press("End")
        self.assertIn("The end", self.read(".readout"))
        self.browser.press("ArrowRight")  # there is nothing behind it
        self.assertIn("The end", self.read(".readout"))
        self.browser.press("Escape")
        self.assertEqual(self.read(".readout"), NOTHING)
        self.browser.press("Home")
        self.assertIn("“a”", self.read(".readout"))
        self.browser.press("Tab")
        self.assertEqual(self.read(".readout"), NOTHING)

    def test_a_click_or_enter_keeps_the_word(self):
        self.open()
        self.browser.click(*self.middle(f"{self.words()}[3]"))
        self.leave()
        self.assertIn("“looks”", self.read(".readout"))
        self.assertEqual(self.browser.evaluate(
            f"{self.words()}[3].getAttribute('aria-pressed')"), "true")
        self.hover(1)
        self.assertIn("“small”", self.read(".readout"))
        self.browser.click(*self.middle(f"{self.words()}[3]"))
        self.leave()
        self.assertEqual(self.read(".readout"), NOTHING)
        self.browser.press("ArrowLeft")
        self.browser.press("Enter")
        self.browser.press("Tab")
        self.assertIn("“cat”", self.read(".readout"))
        self.browser.press("Escape")
        self.assertEqual(self.read(".readout"), NOTHING)

    def test_a_finger_keeps_a_word_and_lets_it_go_on_the_photo(self):
        self.open(width=390)
        self.browser.tap(*self.middle(f"{self.words()}[2]"))
        self.assertIn("“cat”", self.read(".readout"))
        self.browser.tap(*self.middle(f"{self.words()}[3]"))
        self.assertIn("“looks”", self.read(".readout"))
        self.browser.tap(*self.middle(self.part(".stage")))
        self.assertEqual(self.read(".readout"), NOTHING)

    def test_another_caption_can_be_read(self):
        self.open()
        said = self.browser.evaluate(
            f"[...{self.part('.captions')}.querySelectorAll('label')].map((l) => l.innerText)")
        self.assertIn("a small cat looks", said[0])
        self.assertIn("log-probability −2.094 · score −0.420", said[0])
        self.assertTrue(self.browser.evaluate(f"{self.part('input')}.checked"))
        self.browser.evaluate(f"{self.part('label:last-child input')}.click()")
        self.assertEqual(self.browser.evaluate(
            f"[...{self.words()}].map((w) => w.textContent)"), ["two", "eyes", "<end>"])
        self.hover(1)
        most = max(self.weight(SECOND, 1))
        self.assertAlmostEqual(float(self.read(".high")), most, delta=5e-4 * most)
        self.assertIn("row 7, column 12", self.read(".readout"))

    def test_words_play_one_after_the_other(self):
        self.open()
        seen = self.browser.evaluate(f"""new Promise((done) => {{
          const seen = [], readout = {self.part('.readout')}, play = {self.part('.play')};
          new MutationObserver(() => {{
            seen.push(readout.textContent.split(' looked')[0]);
            if (play.textContent !== 'Stop' && seen.length > 1) done(seen);
          }}).observe(readout, {{childList: true}});
          play.click();
          if (play.textContent !== 'Stop') done(['did not begin']);
        }})""")
        self.assertEqual(seen, ["“a”", "“small”", "“cat”", "“looks”", "The end", NOTHING.split(" looked")[0]])
        self.browser.evaluate(f"{self.part('.play')}.click()")
        self.assertIn("“a”", self.read(".readout"))
        self.browser.evaluate(f"{self.part('.play', 1)}.click()")  # one at a time
        self.assertEqual(self.read(".readout"), NOTHING)
        self.assertIn("“a”", self.read(".readout", 1))
        self.browser.press("Escape")
        self.assertEqual(self.read(".readout", 1), NOTHING)

    def test_hard_attention_outlines_the_place_that_was_taken(self):
        self.open()
        self.hover(1, photo=1)
        place = 9 * SIDE + 8
        chance = self.weight(HARD, 1, place)
        said = self.read(".readout", 1)
        self.assertIn("“nose” took the place in row 10, column 9 (probability ", said)
        shown = float(said.split("probability ")[1].split(")")[0])
        step = max(self.weight(HARD, 1)) / 255
        self.assertAlmostEqual(shown, chance, delta=step / 2 + 5e-4 * chance)
        # The middle of the cell's upper edge: half a cell above its centre.
        whole = (0, 0, 451 / SIDE, 300 / SIDE)
        self.assertGreater(min(self.pixel_of(9.5, 9, 1, *whole)), 200)  # white
        self.assertLess(min(self.pixel_of(10.5, 12, 1, *whole)), 150)
        self.assertFalse(self.browser.evaluate(f"{self.part('.unseen', 1)}.checkVisibility()"))
        self.assertTrue(self.browser.evaluate(f"{self.part('.unseen')}.checkVisibility()"))

    def test_the_line_under_a_word_is_as_strong_as_the_word_is_likely(self):
        self.open()
        strength = self.browser.evaluate(
            f"[...{self.words()}].map((w) => +getComputedStyle(w, '::after').opacity)")
        for shown, chance in zip(strength, (0.9, 0.3, 0.8, 0.6, 0.95)):
            self.assertAlmostEqual(shown, 0.1 + 0.9 * chance, delta=2e-3)
        self.assertEqual(self.browser.evaluate(f"{self.words()}[1].title"),
                         "log-probability −1.204 (30.0\u00a0%)")

    def test_a_caption_that_was_cut_says_so(self):
        self.open()
        self.assertIn("cut at the longest length", self.read(".figures", 2))
        self.assertNotIn("cut", self.read(".figures", 1))

    def test_a_screen_reader_hears_names_and_states(self):
        self.open()
        self.hover(2)
        self.browser.call("Accessibility.enable")
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        heard = [(node["role"]["value"], node["name"]["value"],
                  node.get("description", {}).get("value", ""))
                 for node in nodes if not node["ignored"] and "name" in node]
        self.assertIn(("article", "pets/chelsea.png", ""), heard)
        self.assertIn(("image", "pets/chelsea.png: a small cat looks", ""), heard)
        self.assertIn(
            ("toolbar", "Words of the caption: each shows where it looked", ""), heard)
        pressed = [each for each in heard if each[1] == "cat"]
        self.assertEqual(pressed[0][2], "log-probability −0.223 (80.0\u00a0%)")
        self.assertEqual(sum(role == "radio" for role, _, _ in heard), 2)
        self.assertIn(("group", "Captions, best first", ""), heard)
        self.assertIn("status", {role for role, _, _ in (
            (node["role"]["value"], 0, 0) for node in nodes if not node["ignored"])})

    def test_nothing_moves_for_whom_motion_disturbs(self):
        durations = []
        for still in (False, True):
            self.open(still=still)
            durations.append(self.browser.evaluate(
                f"getComputedStyle({self.words()}[0]).transitionDuration"))
        self.assertEqual(durations[1], "0s")
        self.assertNotEqual(durations[0], "0s")

    def test_hostile_texts_are_texts(self):
        self.open("captions-hostile")
        self.assertEqual(self.browser.evaluate(
            f"[...{self.words()}].slice(0, 3).map((w) => w.textContent)"),
            ["<script>alert(1)</script>", "</script>", "<!--<script>"])
        self.hover(0)
        self.assertIn("“<script>alert(1)</script>” looked most", self.read(".readout"))
        self.assertEqual(
            self.browser.evaluate("document.title"), "</title><script>alert(2)</script>")
        self.assertEqual(self.read("h2"), "caf\\xE9 <img src=x onerror=alert(4)>.jpg")
        self.assertEqual(self.browser.evaluate("document.scripts.length"), 2)
        self.assertEqual(self.browser.evaluate("document.images.length"), 1)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('svg').length"), 0)
        self.browser.evaluate(f"{self.part('label:last-child input')}.click()")
        self.assertIn("(no word)", self.read("label:last-child"))
        self.hover(0)
        self.assertIn("The end looked most at row 2, column 1", self.read(".readout"))

    def test_the_policy_forbids_the_network_and_foreign_scripts(self):
        self.open()
        self.assert_policy()

    def test_a_hundred_photos_take_no_more_memory_than_those_in_sight(self):
        self.open("captions-many")
        self.assertEqual(
            self.browser.evaluate("document.querySelectorAll('article').length"), 100)
        drawn = "[...document.querySelectorAll('.overlay')].map((c) => c.width > 0)"
        self.hover(3, photo=99)
        self.assertIn("“looks”", self.read(".readout", 99))
        self.assertGreater(self.pixel_of(5, 4, photo=99)[3], 0)
        drawn = self.browser.evaluate(drawn)
        self.assertTrue(drawn[99])
        self.assertFalse(drawn[0])
        self.assertLess(sum(drawn), 10)

    def test_no_width_scrolls_sideways(self):
        self.assert_no_width_scrolls("captions", "captions-hostile")
        self.open(width=390)
        photo, words = (self.browser.evaluate(
            f"{self.part(name)}.getBoundingClientRect().{edge}")
            for name, edge in ((".stage", "bottom"), (".words", "top")))
        self.assertLess(photo, words)  # one column


def look_at_a_word(browser):
    for _ in range(3):
        browser.press("Tab")
    browser.press("ArrowRight")
    browser.press("ArrowRight")


if __name__ == "__main__":
    run(CaptionPageTest, ("captions", "captions-hostile"), look_at_a_word)
