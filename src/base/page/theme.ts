import { button } from './dom.ts';

const storageKey = 'eval-report-theme';

/** A button that switches between the light and the dark theme. The browser keeps the choice. */
export function makeThemeSwitch() {
  const root = document.documentElement;
  const kept = readKept(storageKey);
  if (kept === 'light' || kept === 'dark') root.dataset['theme'] = kept;
  const isDark = () => (root.dataset['theme'] ?? (prefersDark.matches ? 'dark' : 'light')) === 'dark';
  const toggle = button(
    'Dark',
    () => {
      root.dataset['theme'] = isDark() ? 'light' : 'dark';
      keep(storageKey, root.dataset['theme']);
      show();
    },
    { class: 'quiet theme' },
  );
  const show = () => {
    toggle.textContent = isDark() ? 'Light' : 'Dark';
    toggle.setAttribute('aria-label', `Switch to the ${isDark() ? 'light' : 'dark'} theme`);
  };
  prefersDark.addEventListener('change', show);
  show();
  return toggle;
}

const prefersDark = matchMedia('(prefers-color-scheme: dark)');

/** A stored preference; null if it is absent or the browser has no storage. */
export function readKept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Without browser storage, the value lasts as long as the page. */
export function keep(key: string, value: string) {
  try {
    localStorage.setItem(key, value);
  } catch {}
}
