import { draw, make, unseen } from '../dom.ts';

export type Verdict = 'passed' | 'failed' | 'unscored';

export function verdictOf(passed: boolean, unscored: boolean): Verdict {
  if (passed) return 'passed';
  return unscored ? 'unscored' : 'failed';
}

/** Told apart by their forms, for those who cannot tell the colours apart. */
const forms = {
  passed: 'M3.5 8.5 6.7 11.6 12.5 5',
  failed: 'M4.5 4.5 11.5 11.5 M11.5 4.5 4.5 11.5',
  unscored: 'M3.5 8 12.5 8',
};

/** A small sign for a verdict, which is also read out. */
export function mark(verdict: Verdict) {
  const sign = draw(
    'svg',
    { viewBox: '0 0 16 16', 'aria-hidden': 'true' },
    draw('path', { d: forms[verdict] }),
  );
  return make('span', { class: `mark ${verdict}` }, sign, unseen(`${verdict} `));
}

/** A verdict in a word. */
export function pill(verdict: Verdict | 'error', word: string = verdict) {
  return make('span', { class: `pill ${verdict}` }, word);
}
