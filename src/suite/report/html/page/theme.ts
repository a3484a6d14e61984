import { button } from './dom.ts';
import { keep, readKept } from './kept.ts';

const storageKey = 'eval-report-theme';

/** A switch between light and dark; before it is used, the system decides. */
export function makeThemeSwitch() {
  const root = document.documentElement;
  const kept = readChoice();
  if (kept !== null) root.dataset['theme'] = kept;
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

function readChoice(): 'light' | 'dark' | null {
  const kept = readKept(storageKey);
  return kept === 'light' || kept === 'dark' ? kept : null;
}
