import type { Fault } from '../errors.ts';
import { button, draw, foreign, make, note, unseen } from './dom.ts';
import { count } from './format.ts';

/** Characters laid out at once; the rest is shown on request. */
const SHOWN = 20_000;

export function renderText(text: string, kind: 'prose' | 'code' = 'prose') {
  if (text === '') return note('Empty text.');
  const box = make('div', { class: 'text' });
  const pre = make('pre', { class: kind, dir: 'auto', tabindex: 0 }, text.slice(0, SHOWN));
  box.append(pre);
  if (text.length > SHOWN) {
    const more = button(`Show all ${count(text.length)} characters`, () => {
      pre.replaceChildren(...pieces(text).map((piece) => make('span', { class: 'piece' }, piece)));
      more.nextElementSibling?.remove();
      more.remove();
    });
    const words = `The first ${count(SHOWN)} of ${count(text.length)} characters`;
    box.append(more, make('p', { class: 'printed note' }, words));
  }
  return box;
}

/** Splits a text so that the browser lays out only visible pieces. Megabytes at once would block it. */
function pieces(text: string) {
  const all = [];
  for (let start = 0; start < text.length; ) {
    const end = findBreak(text, start + SHOWN);
    all.push(text.slice(start, end));
    start = end;
  }
  return all;
}

function findBreak(text: string, limit: number) {
  if (limit >= text.length) return text.length;
  const near = text.slice(limit - SHOWN / 2, limit);
  const place = Math.max(near.lastIndexOf('\n'), near.includes('\n') ? -1 : near.lastIndexOf(' '));
  return place < 0 ? limit : limit - SHOWN / 2 + place + 1;
}

export function renderJson(value: unknown) {
  return renderText(toPrettyJson(value), 'code');
}

export function toPrettyJson(value: unknown) {
  return JSON.stringify(value, null, 2) ?? '';
}

export function hasMembers(value: Readonly<Record<string, unknown>>) {
  return Object.keys(value).length > 0;
}

type Verdict = 'passed' | 'failed' | 'unscored';

export function verdictOf(passed: boolean, unscored: boolean): Verdict {
  if (passed) return 'passed';
  return unscored ? 'unscored' : 'failed';
}

/** Different shapes, for readers who cannot distinguish the colours. */
const forms = {
  passed: 'M3.5 8.5 6.7 11.6 12.5 5',
  failed: 'M4.5 4.5 11.5 11.5 M11.5 4.5 4.5 11.5',
  unscored: 'M3.5 8 12.5 8',
};

export function mark(verdict: Verdict, word: string = verdict) {
  const sign = draw(
    'svg',
    { viewBox: '0 0 16 16', 'aria-hidden': 'true' },
    draw('path', { d: forms[verdict] }),
  );
  return make('span', { class: `mark ${verdict}` }, sign, unseen(`${word} `));
}

export function pill(verdict: Verdict | 'error', word: string = verdict) {
  return make('span', { class: `pill ${verdict}` }, word);
}

export function renderFault({ code, message, hint, details }: Fault) {
  return make(
    'div',
    { class: 'fault' },
    make('p', {}, make('code', {}, code), ' ', foreign(message)),
    make('p', { class: 'hint' }, foreign(hint)),
    details !== undefined && hasMembers(details) && renderJson(details),
  );
}
