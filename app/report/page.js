// What is looked at, how it is drawn and said, and how a person chooses. maps.js and overlay.js
// come before this.

const stage = element('stage');
const overlay = element('overlay');

// --- What is looked at.

const views = [...(report.layers.length ? [null] : []), ...report.methods];  // null: attention
const headCount = report.layers.length ? report.layers[0].heads.low.length - 1 : 0;
const state = {
  view: 0,
  layer: report.layers.length - 1,
  head: 0,
  patch: null,
  hover: null
};

const isAttention = () => views.length > 0 && views[state.view] === null;

// The patch whose attention is shown: the chosen one, or the one under the pointer.
function sourcePatch() {
  if (!isAttention() || !report.layers[state.layer].patches) return null;
  if (state.patch !== null) return state.patch;
  return element('follow').checked ? state.hover : null;
}

function shownMap() {
  if (!views.length) return null;
  if (!isAttention()) return mapsOf(views[state.view].map)[0];
  const layer = report.layers[state.layer];
  const patch = sourcePatch();
  return patch === null ? mapsOf(layer.heads)[state.head] : mapsOf(layer.patches)[patch];
}

function shownRange(map) {
  if (!isAttention() || !element('shared').checked) return map;
  const kind = sourcePatch() === null ? 'heads' : 'patches';
  return rangeOf(report.layers.map((layer) => layer[kind]).filter(Boolean));
}

// --- Drawing.

function drawOverlay(map, range) {
  const look = {opacity: element('opacity').value / 100, smooth: element('smooth').checked};
  const drawn = drawOver(overlay, report, map, range, look);
  if (state.hover !== null && state.hover !== state.patch) {
    outline(drawn, report, state.hover, 'rgba(0, 0, 0, 0.6)', 3);
    outline(drawn, report, state.hover, '#ffffff', 1.5);
  }
  if (state.patch !== null) {
    outline(drawn, report, state.patch, '#000000', 5);
    outline(drawn, report, state.patch, '#ffffff', 2.5);
  }
}

function drawHeads() {
  const layer = report.layers[state.layer];
  const shared = element('shared').checked && rangeOf(report.layers.map((each) => each.heads));
  mapsOf(layer.heads).forEach((map, head) => {
    const button = element('heads').children[head];
    colourMap(button.firstChild, map, shared || map, 1);
    const chosen = head === state.head && sourcePatch() === null;
    button.setAttribute('aria-checked', chosen);
    button.tabIndex = head === state.head ? 0 : -1;
  });
}

// --- Words.

function shownText(map) {
  if (!map) return 'No map was made';
  const flat = map.high > map.low ? '' : ' · the same value everywhere';
  if (!isAttention()) {
    const {name, label} = views[state.view];
    return (label ? `${name} for “${label}”` : name) + flat;
  }
  const patch = sourcePatch();
  const head = patch !== null || state.head === 0 ? 'mean of heads' : `head ${state.head - 1}`;
  const from = patch === null ? report.source : `the patch in ${placeName(patch)}`;
  return `Layer ${report.layers[state.layer].index} · ${head} · attention from ${from}${flat}`;
}

// The cell under the pointer, else the chosen one; of a hovered patch, what its source gives to it.
function sayReadout(map) {
  const readout = element('readout');
  const cell = state.hover !== null ? state.hover : state.patch;
  if (!map || cell === null) {
    const canFollow = isAttention() && report.layers[state.layer].patches;
    readout.textContent = !map ? '' :
        canFollow              ? 'Choose a patch to see its value and what it attends to.' :
                                 'Choose a patch to see its value.';
    return;
  }
  const read = state.patch === null && isAttention() ?
      mapsOf(report.layers[state.layer].heads)[state.head] :
      map;
  const [left, top, width, height] = rectangleOf(report, cell);
  const span = (from, length) => `${Math.round(from)} to ${Math.round(from + length)}`;
  const number = document.createElement('b');
  number.id = 'value';
  number.textContent = digits(valueOf(read, cell));
  const to = state.patch === null && isAttention() ? ` from ${report.source}` : '';
  const where = ` · x ${span(left, width)}, y ${span(top, height)} in the photo.`;
  const missing = state.patch !== null && isAttention() && sourcePatch() === null ?
      ' What patches attend to was not kept for this layer.' :
      '';
  readout.replaceChildren(`Patch in ${placeName(cell)}: `, number, to + where + missing);
}

function render() {
  const map = shownMap();
  const range = map && shownRange(map);
  drawOverlay(map, range);
  element('shown').textContent = shownText(map);
  element('low').textContent = map ? digits(range.low) : '';
  element('high').textContent = map ? digits(range.high) : '';
  sayReadout(map);
  const attention = isAttention();
  element('attention').hidden = !attention;
  element('method').hidden = attention || !views.length;
  for (const part of document.querySelectorAll('.of-attention')) part.hidden = !attention;
  element('opacity-name').textContent = `${element('opacity').value} %`;
  [...element('tabs').children].forEach((tab, index) => {
    tab.setAttribute('aria-selected', index === state.view);
    tab.tabIndex = index === state.view ? 0 : -1;
  });
  if (attention) {
    const name = `${report.layers[state.layer].index}`;
    element('layer').value = state.layer;
    element('layer').setAttribute('aria-valuetext', `layer ${name}`);
    element('layer-name').textContent = name;
    drawHeads();
  } else if (views.length) {
    element('what').textContent = views[state.view].what;
    element('about').textContent = views[state.view].citation;
  }
}

// --- Choosing. Every change goes through here.

const within = (value, count) => Math.min(Math.max(value, 0), count - 1);
function change(what) {
  Object.assign(state, what);
  render();
}
const chooseLayer = (layer) => change({layer: within(layer, report.layers.length)});
// A head is seen from the token, so the patch is let go.
const chooseHead = (head) => change({head: within(head, headCount + 1), patch: null, hover: null});

function cellAt(event) {
  const box = stage.getBoundingClientRect();
  const [left, top, width, height] = report.cell;
  const x = (event.clientX - box.left) / box.width * report.size[0];
  const y = (event.clientY - box.top) / box.height * report.size[1];
  const row = Math.floor((y - top) / height);
  const column = Math.floor((x - left) / width);
  const inside = row >= 0 && row < rows && column >= 0 && column < columns;
  return inside ? row * columns + column : null;
}

const arrows = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0]
};

// On the photo arrows move the chosen patch, beginning in the middle.
function movePatch([down, along]) {
  if (state.patch === null) {
    change({patch: Math.floor(rows / 2) * columns + Math.floor(columns / 2), hover: null});
    return;
  }
  const row = within(Math.floor(state.patch / columns) + down, rows);
  const column = within(state.patch % columns + along, columns);
  change({patch: row * columns + column, hover: null});
}

// Tabs and heads: one stop of the Tab key, arrows within.
function moveWithin(group, index) {
  group.children[within(index, group.children.length)].focus();
  group.children[within(index, group.children.length)].click();
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === 'Escape') return change({patch: null, hover: null});
  const arrow = arrows[event.key];
  if (!arrow || event.target.matches('input')) return;
  const [down, along] = arrow;
  if (event.target === stage && views.length) {
    movePatch(arrow);
  } else if (event.target.closest('#tabs')) {
    moveWithin(element('tabs'), state.view + down + along);
  } else if (isAttention() && event.target.closest('#heads') && !event.shiftKey) {
    if (down)
      chooseLayer(state.layer - down);
    else
      moveWithin(element('heads'), state.head + along);
  } else if (isAttention() && along) {
    if (event.shiftKey)
      chooseHead(state.head + along);
    else
      chooseLayer(state.layer + along);
  } else {
    return;
  }
  event.preventDefault();
}

// --- The parts that stay.

function fillTexts() {
  document.title = report.title;
  element('title').textContent = report.title;
  const [width, height] = report.size;
  for (const fact of [report.model, report.photo, `${width} × ${height} pixels`, report.input]) {
    if (fact) add(element('facts'), 'li', fact);
  }
  element('photo').alt = report.photo;
  stage.setAttribute('aria-label', `${report.photo} with the map; arrows choose a patch`);
  shapeStage(stage, report, 78);
  sayUnseen(element('seen'), report);
  element('answers').hidden = !report.predictions.length;
  for (const {label, probability} of report.predictions) {
    const line = add(element('predictions'), 'li');
    add(line, 'span', label);
    add(line, 'span', `${(probability * 100).toFixed(1)} %`).className = 'number';
    const track = add(line, 'div');
    track.className = 'track';
    add(track, 'div').style.width = `${probability * 100}%`;
  }
  element('audit').hidden = !report.audit.length && !report.verdict;
  element('verdict').textContent = report.verdict;
  element('tests').hidden = !report.audit.length;
  element('verdict').hidden = !report.verdict;
  for (const [name, value, meaning] of report.audit) {
    const row = add(element('rows'), 'tr');
    add(row, 'th', name).scope = 'row';
    add(row, 'td', value);
    add(row, 'td', meaning);
  }
  element('remarks').hidden = !report.notes.length;
  for (const note of report.notes) add(element('notes'), 'li', note);
}

function makeControls() {
  views.forEach((view, index) => {
    const tab = add(element('tabs'), 'button', view ? view.name : 'Attention');
    if (view && view.label) add(tab, 'small', view.label);
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-controls', view ? 'method' : 'attention');
    tab.addEventListener('click', () => change({view: index, hover: null}));
  });
  for (let head = 0; head <= headCount && report.layers.length; ++head) {
    const button = add(element('heads'), 'button');
    add(button, 'canvas').setAttribute('aria-hidden', 'true');
    button.append(head === 0 ? 'mean' : `${head - 1}`);  // as --head counts them
    button.setAttribute('role', 'radio');
    button.addEventListener('click', () => chooseHead(head));
  }
  element('layer').max = Math.max(report.layers.length - 1, 0);
  element('layer').addEventListener('input', (event) => chooseLayer(Number(event.target.value)));
  for (const id of ['opacity', 'smooth', 'shared', 'follow']) {
    element(id).addEventListener('input', render);
  }
  stage.addEventListener('pointermove', (event) => {
    const hover = event.pointerType === 'mouse' ? cellAt(event) : null;
    if (hover !== state.hover) change({hover});
  });
  stage.addEventListener('pointerleave', () => change({hover: null}));
  stage.addEventListener('click', (event) => {
    const cell = cellAt(event);
    change({patch: cell === state.patch ? null : cell});
  });
  document.addEventListener('keydown', onKey);
  drawColourBar(element('scale'));
  new ResizeObserver(render).observe(stage);
}

fillTexts();
makeControls();
render();
