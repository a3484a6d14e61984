import { make } from '../../../base/page/dom.ts';
import type { OpenSection } from '../section.ts';

export const openInbox: OpenSection = (main) => {
  main.replaceChildren(make('h1', {}, 'Inbox'));
  return { show() {}, close() {} };
};
