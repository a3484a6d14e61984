import { button, make } from './dom.ts';

/** The keys of the page, in a dialog that is still closed. */
export function makeHelp() {
  const rows = keys.map(([key, what]) =>
    make('div', {}, make('dt', {}, make('kbd', {}, key)), make('dd', {}, what)),
  );
  const dialog: HTMLDialogElement = make(
    'dialog',
    { class: 'help', 'aria-labelledby': 'help-title' },
    make('h2', { id: 'help-title' }, 'Keys'),
    make('dl', {}, ...rows),
    button('Close', () => dialog.close()),
  );
  return dialog;
}

const keys: readonly (readonly [key: string, what: string])[] = [
  ['/', 'search'],
  ['j k', 'next and previous case; also the arrows, in the list'],
  ['Enter', 'open the case'],
  ['Escape', 'leave the search, close the case'],
  ['?', 'this help'],
];
