// The search of the site. Its index is loaded on first use.
const { root } = document.currentScript.dataset;
const input = document.querySelector('#search');
const found = document.querySelector('#found');
let index;

input.addEventListener('focus', load);
input.addEventListener('input', show);
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  }
  if (event.key === 'Escape') clear();
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') move(event);
});

function load() {
  index ??= Promise.all(['minisearch.js', 'search-options.js', 'sections.js'].map(addScript)).then(() => {
    const words = new MiniSearch(searchOptions);
    words.addAll(sections);
    return words;
  });
  return index;
}

function addScript(name) {
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement('script'), {
      src: root + name,
      onload: resolve,
      onerror: reject,
    });
    document.head.append(script);
  });
}

async function show() {
  const asked = input.value;
  const results = (await load()).search(asked).slice(0, 20);
  if (asked !== input.value) return;
  found.replaceChildren(...results.map(lineOf));
  found.hidden = asked === '';
  if (results.length === 0)
    found.append(Object.assign(document.createElement('li'), { textContent: 'Nothing has these words.' }));
}

function lineOf({ id, heading, page }) {
  const link = Object.assign(document.createElement('a'), { href: root + id, textContent: heading });
  if (page !== heading)
    link.append(' ', Object.assign(document.createElement('small'), { textContent: page }));
  const line = document.createElement('li');
  line.append(link);
  return line;
}

function clear() {
  input.value = '';
  found.hidden = true;
}

function move(event) {
  const stops = [input, ...found.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement);
  if (at === -1 || found.hidden) return;
  event.preventDefault();
  stops.at((at + (event.key === 'ArrowDown' ? 1 : -1)) % stops.length).focus();
}
