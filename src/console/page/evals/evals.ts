import { make } from '../../../base/page/dom.ts';
import type { OpenSection } from '../section.ts';

export const openEvals: OpenSection = (main) => {
  main.replaceChildren(make('h1', {}, 'Evals'));
  return { show() {}, close() {} };
};
