import type { OpenSection, Section } from '../section.ts';
import { openRunList } from './list.ts';
import { openRun } from './run.ts';

export const openRuns: OpenSection = (main, page) => {
  let shown: Section | undefined;
  let place: string | undefined;
  return {
    show: async (address) => {
      const [id = ''] = address.path;
      if (shown === undefined || place !== id) {
        shown?.close();
        shown = id === '' ? openRunList(main, page) : openRun(main, page, id);
        place = id;
      }
      await shown.show(address);
    },
    key: (event) => shown?.key?.(event) ?? false,
    get keys() {
      return shown?.keys ?? [];
    },
    close: () => shown?.close(),
  };
};
