import { RuntimeError } from '../../base/errors.ts';
import type { RunPage } from '../../contract/run.ts';
import { readLabels } from '../../pipelines/run/labels.ts';
import type { Store } from '../../store/store.ts';
import type { RunListFilter } from '../api-options.ts';
import { findRuns, type ListFilter } from './shown-runs.ts';

/** How many runs a page has unless it is said. */
export const PAGE_SIZE = 100;

/** The filter as a store takes it. Throws USAGE. */
export function toListFilter(filter: RunListFilter): ListFilter {
  const { pipeline, status, labels, since, until, limit, after, parent, children: all } = filter;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0))
    throw new RuntimeError('USAGE', '`limit` is no whole number');
  return {
    ...{ name: pipeline, status, labels: readLabels(labels), limit, parent, all },
    ...{ since: timeOf('since', since), until: timeOf('until', until) },
    after: after === undefined ? undefined : readPlace(after),
  };
}

/** The runs of a page, and what the next one begins after. Throws STORE_FAILED. */
export async function readPage(store: Store, { limit = PAGE_SIZE, ...filter }: ListFilter): Promise<RunPage> {
  const found = await findRuns(store, { ...filter, limit: limit + 1 });
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return { runs: shown.map(({ info }) => info), ...(last && { next: String(last.place) }) };
}

function timeOf(name: string, time: Date | undefined): number | undefined {
  const ms = time?.getTime();
  if (ms === undefined || Number.isFinite(ms)) return ms;
  throw new RuntimeError('USAGE', `\`${name}\` is no date`);
}

function readPlace(after: string): number {
  if (/^\d{1,15}$/.test(after)) return Number(after);
  throw new RuntimeError('USAGE', `no page begins after ${JSON.stringify(after)}`, {
    hint: 'Give the `next` of the page before.',
  });
}
