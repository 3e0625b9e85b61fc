// Captions whose words show where they looked. maps.js and overlay.js come before this.

const kStep = 1100;  // milliseconds that each word is shown while they play

// --- One photo: which caption is read, and which of its words is looked at.

class Photo {
  constructor(photo, number) {
    this.photo = photo;
    this.caption = photo.captions[0];
    this.hover = this.focus = this.pinned = this.playing = null;  // numbers of words
    this.timer = 0;
    this.near = false;  // to what the window shows
    this.article = element('photo').content.cloneNode(true).firstElementChild;
    this.part = (name) => this.article.querySelector(name);
    this.words = this.part('.words');
    this.fillTexts(number);
    this.makeWords();
    this.listen();
  }

  // The word that is shown, or null: what the hand does now goes before what it did earlier.
  shown() {
    return this.hover ?? this.playing ?? this.focus ?? this.pinned;
  }

  change(what) {
    Object.assign(this, what);
    this.draw();
  }

  // --- Drawing. Only what is near the window has pixels: a hundred photos would fill the memory.

  draw() {
    const number = this.shown();
    const word = number === null ? null : this.caption.words[number];
    const map = word && mapsOf(this.caption.maps)[number];
    if (this.near) this.drawMap(word, map);
    [...this.words.children].forEach((button, index) => {
      button.classList.toggle('looking', index === number);
      button.setAttribute('aria-pressed', index === this.pinned);
      button.tabIndex = index === (this.focus ?? number ?? this.pinned ?? 0) ? 0 : -1;
    });
    this.part('.scale').classList.toggle('idle', !map);
    this.part('.low').textContent = map ? digits(map.low) : '';
    this.part('.high').textContent = map ? digits(map.high) : '';
    const said = word ? readout(word, map) : 'Choose a word to see where it looked.';
    if (this.part('.readout').textContent !== said) this.part('.readout').textContent = said;
    this.part('.play').textContent = this.playing === null ? 'Play word by word' : 'Stop';
  }

  drawMap(word, map) {
    const look = {opacity: element('opacity').value / 100, smooth: element('smooth').checked};
    const drawn = drawOver(this.part('.overlay'), this.photo, map, map, look);
    if (word && word.place !== undefined) {
      outline(drawn, this.photo, word.place, '#000000', 5);
      outline(drawn, this.photo, word.place, '#ffffff', 2.5);
    }
  }

  comeNear(near) {
    this.near = near;
    if (near) {
      this.draw();
    } else {
      this.part('.overlay').width = this.part('.overlay').height = 0;
    }
  }

  // --- Choosing.

  choose(caption) {
    this.caption = caption;
    this.makeWords();
    this.letGo();
  }

  letGo() {
    this.stop();
    this.change({hover: null, focus: null, pinned: null});
  }

  play() {
    if (this.playing !== null) return this.stop();
    for (const other of photos) other.stop();
    this.change({playing: 0, pinned: null});
    this.timer = setInterval(() => {
      if (this.playing + 1 < this.caption.words.length) {
        this.change({playing: this.playing + 1});
      } else {
        this.stop();
      }
    }, kStep);
  }

  stop() {
    clearInterval(this.timer);
    if (this.playing !== null) this.change({playing: null});
  }

  onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const from = [...this.words.children].indexOf(event.target);
    const last = this.words.children.length - 1;
    const to = {
      ArrowLeft: Math.max(from - 1, 0),
      ArrowRight: Math.min(from + 1, last),
      Home: 0,
      End: last
    }[event.key];
    if (from < 0 || to === undefined) return;
    this.words.children[to].focus();
    this.change({focus: to});  // which does not move at the end of the line, after Escape
    event.preventDefault();
  }

  // --- The parts that stay.

  fillTexts(number) {
    const {name, captions, size} = this.photo;
    this.part('h2').textContent = name;
    this.part('h2').id = `photo-${number}`;
    this.article.setAttribute('aria-labelledby', `photo-${number}`);
    this.part('img').alt = `${name}: ${captions[0].text}`;
    this.part('img').src = `data:image/jpeg;base64,${this.photo.jpeg}`;
    [this.part('img').width, this.part('img').height] = size;
    shapeStage(this.part('.stage'), this.photo, 70);
    sayUnseen(this.part('.unseen'), this.photo);
    drawColourBar(this.part('.scale canvas'));
    this.part('.captions').hidden = captions.length < 2;
    this.part('.figures').hidden = captions.length > 1;
    this.part('.figures').textContent = figures(captions[0]);
    for (const caption of captions) {
      const label = add(this.part('.captions'), 'label');
      const radio = add(label, 'input');
      radio.type = 'radio';
      radio.name = `captions-${number}`;
      radio.checked = caption === this.caption;
      radio.addEventListener('change', () => this.choose(caption));
      const text = add(label, 'span', sentence(caption));
      add(text, 'small', figures(caption)).className = 'muted';
    }
  }

  makeWords() {
    this.words.replaceChildren();
    this.caption.words.forEach((word, index) => {
      const button = add(this.words, 'button', word.text);
      button.type = 'button';
      if (word.text === '<end>') button.className = 'end';
      button.title = likelihood(word);
      button.style.setProperty('--likely', Math.exp(word.log_prob));
      button.addEventListener('pointerenter', (event) => {
        if (event.pointerType !== 'touch') this.change({hover: index});
      });
      button.addEventListener('pointerleave', () => this.change({hover: null}));
      button.addEventListener('focus', () => {
        if (button.matches(':focus-visible')) this.change({focus: index});
      });
      button.addEventListener('blur', () => this.change({focus: null}));
      button.addEventListener('click', () => {
        this.stop();
        this.change({pinned: this.pinned === index ? null : index});
      });
    });
  }

  listen() {
    this.article.addEventListener('keydown', (event) => this.onKey(event));
    this.part('.play').addEventListener('click', () => this.play());
    this.part('.stage').addEventListener('click', () => this.change({pinned: null}));
    new ResizeObserver(() => this.near && this.draw()).observe(this.part('.stage'));
  }
}

// --- Words.

const decimals = (value) => value.toFixed(3).replace('-', '−');
const percent = (part) => `${(part * 100).toFixed(1)}\u00a0%`;
const likelihood = ({log_prob}) =>
    `log-probability ${decimals(log_prob)} (${percent(Math.exp(log_prob))})`;
const figures = ({log_prob, score, finished}) =>
    `log-probability ${decimals(log_prob)} · score ${decimals(score)}` +
    (finished ? '' : ' · cut at the longest length');
const sentence = ({text}) => text || '(no word)';

// Hard attention takes a place; soft attention is a mean, of which one place has most.
function readout(word, map) {
  const name = word.text === '<end>' ? 'The end' : `“${word.text}”`;
  return `${name} ${deed(word, map)} · ${likelihood(word)}`;
}
function deed({place}, map) {
  if (place !== undefined) {
    return `took the place in ${placeName(place)} (probability ${digits(valueOf(map, place))})`;
  }
  const most = map.levels.indexOf(255);
  return most < 0 ? `looked everywhere alike (weight ${digits(map.high)})` :
                    `looked most at ${placeName(most)} (weight ${digits(map.high)})`;
}

// --- The page.

document.title = report.title;
element('title').textContent = report.title;
for (const fact of report.facts) add(element('facts'), 'li', fact);
for (const note of report.notes) add(element('notes'), 'li', note);
element('notes').hidden = !report.notes.length;

const photos = report.photos.map((photo, index) => new Photo(photo, index));
const ofArticle = new Map(photos.map((photo) => [photo.article, photo]));
const nearness = new IntersectionObserver((entries) => {
  for (const entry of entries) ofArticle.get(entry.target).comeNear(entry.isIntersecting);
}, {rootMargin: '300px'});
for (const photo of photos) {
  element('photos').append(photo.article);
  nearness.observe(photo.article);
  photo.draw();
}
function drawAll() {
  element('opacity-name').textContent = `${element('opacity').value} %`;
  for (const photo of photos) photo.draw();
}
document.addEventListener('keydown', ({key}) => {
  if (key === 'Escape') photos.forEach((photo) => photo.letGo());
});
for (const id of ['opacity', 'smooth']) element(id).addEventListener('input', drawAll);
drawAll();
