/** What the keys act on. */
export interface Explorer {
  step: (by: number) => void;
  openActive: () => void;
  focusSearch: () => void;
  focusList: () => void;
  isOpen: () => boolean;
  close: () => void;
}

/** The page by keyboard. */
export function listenToKeys(explorer: Explorer, help: HTMLDialogElement) {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (act(event, explorer, help)) event.preventDefault();
  });
}

/** @returns whether the key meant something here */
function act({ key, target }: KeyboardEvent, explorer: Explorer, help: HTMLDialogElement): boolean {
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

/** Out of the field, or out of the case. */
function leave(place: Element, explorer: Explorer) {
  if (isTyping(place)) explorer.focusList();
  else if (explorer.isOpen()) explorer.close();
  else return false;
  return true;
}

function isTyping(place: Element) {
  return place.matches('input, select, textarea');
}
