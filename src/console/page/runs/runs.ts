import { make } from '../../../base/page/dom.ts';
import type { OpenSection } from '../section.ts';

export const openRuns: OpenSection = (main) => {
  main.replaceChildren(make('h1', {}, 'Runs'));
  return { show() {}, close() {} };
};
