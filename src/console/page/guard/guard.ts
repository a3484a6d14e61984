import { make } from '../../../base/page/dom.ts';
import type { OpenSection } from '../section.ts';

export const openGuard: OpenSection = (main) => {
  main.replaceChildren(make('h1', {}, 'Guard'));
  return { show() {}, close() {} };
};
