const storageKey = 'signalbox-key';

/** Used if the browser has no storage: the key then lasts as long as the page. */
let own: string | null = null;

/** The key of this tab for the API. Takes it from `#key=…` of the address, which it clears. Null if there is none yet. */
export function readKey(): string | null {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get('key');
  if (given !== null) {
    fragment.delete('key');
    const rest = fragment.size === 0 ? '' : `#${fragment}`;
    history.replaceState(history.state, '', `${location.pathname}${location.search}${rest}`);
    keepKey(given);
  }
  try {
    return sessionStorage.getItem(storageKey) ?? own;
  } catch {
    return own;
  }
}

export function keepKey(key: string) {
  own = key;
  try {
    sessionStorage.setItem(storageKey, key);
  } catch {}
}

export function forgetKey() {
  own = null;
  try {
    sessionStorage.removeItem(storageKey);
  } catch {}
}
