import type { OpenSection, Section } from '../section.ts';
import { openRunList } from './list.ts';
import { openRun } from './run.ts';

export const openRuns: OpenSection = (main, page) => {
  let shown: Section | undefined;
  let place: string | undefined;
  return {
    show: async (address) => {
      const [id = ''] = address.path;
      const before = place;
      if (shown === undefined || place !== id) {
        shown?.close();
        shown = id === '' ? openRunList(main, page) : openRun(main, page, id);
        place = id;
      }
      await shown.show(address);
      // Back in the list, the run that was open has the focus.
      if (id !== '' || before === undefined || before === '') return;
      const href = page.hrefOf(`/runs/${encodeURIComponent(before)}`);
      for (const link of main.querySelectorAll('a')) if (link.getAttribute('href') === href) link.focus();
    },
    key: (event) => shown?.key?.(event) ?? false,
    get keys() {
      return shown?.keys ?? [];
    },
    close: () => shown?.close(),
  };
};
