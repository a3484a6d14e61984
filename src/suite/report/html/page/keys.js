/**
 * @typedef {object} Explorer What the keys act on.
 * @property {(by: number) => void} step
 * @property {() => void} openActive
 * @property {() => void} focusSearch
 * @property {() => void} focusList
 * @property {() => boolean} isOpen
 * @property {() => void} close
 */

/**
 * The page by keyboard.
 * @param {Explorer} explorer
 * @param {HTMLDialogElement} help
 */
export function listenToKeys(explorer, help) {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (act(event, explorer, help)) event.preventDefault();
  });
}

/**
 * @param {KeyboardEvent} event
 * @param {Explorer} explorer
 * @param {HTMLDialogElement} help
 * @returns {boolean} whether the key meant something here
 */
function act({ key, target }, explorer, help) {
  const place = target instanceof Element ? target : document.body;
  if (key === 'Escape') return leave(place, explorer);
  if (isTyping(place)) return key === 'Enter' && leave(place, explorer);
  switch (key) {
    case '/':
      explorer.focusSearch();
      return true;
    case '?':
      help.showModal();
      return true;
    case 'j':
    case 'k':
      explorer.step(key === 'j' ? 1 : -1);
      return true;
    case 'ArrowDown':
    case 'ArrowUp':
      // Elsewhere the arrows scroll.
      if (place.closest('.list') === null) return false;
      explorer.step(key === 'ArrowDown' ? 1 : -1);
      return true;
    case 'Enter':
      if (place.closest('button, summary, a, select') !== null) return false;
      explorer.openActive();
      return true;
    default:
      return false;
  }
}

/**
 * Out of the field, or out of the case.
 * @param {Element} place
 * @param {Explorer} explorer
 */
function leave(place, explorer) {
  if (isTyping(place)) explorer.focusList();
  else if (explorer.isOpen()) explorer.close();
  else return false;
  return true;
}

/** @param {Element} place */
function isTyping(place) {
  return place.matches('input, select, textarea');
}
