import type { RunHeader } from '../../../../record.ts';
import type { Data, Entry, Outcome } from '../data.ts';
import { isDifferent } from '../matrix/group.ts';

export interface View {
  query: string;
  status: Status;
  /** The eval whose results count; empty for whole cases. */
  eval: string;
  tag: string;
  /** Inclusive score bounds. */
  min: number | null;
  max: number | null;
  order: Order;
  open: number | null;
}

type Status = 'all' | 'failed' | 'passed' | 'unscored' | 'flaky' | 'differs';
type Order = 'number' | 'lowest' | 'highest' | 'id';

const statuses: readonly Status[] = ['all', 'failed', 'passed', 'unscored', 'flaky', 'differs'];

export function statusesOf({ variants }: RunHeader): readonly Status[] {
  return variants === undefined ? statuses.filter((status) => status !== 'differs') : statuses;
}

export const orders: ReadonlyMap<Order, string> = new Map([
  ['number', 'Order of the dataset'],
  ['lowest', 'Lowest score first'],
  ['highest', 'Highest score first'],
  ['id', 'By id'],
]);

export const everything: View = {
  query: '',
  status: 'all',
  eval: '',
  tag: '',
  min: null,
  max: null,
  order: 'number',
  open: null,
};

export function viewToHash(view: View) {
  const params = new URLSearchParams();
  const set = (name: string, value: unknown, usual: unknown) => {
    if (value !== usual) params.set(name, String(value));
  };
  set('q', view.query, '');
  set('status', view.status, 'all');
  set('eval', view.eval, '');
  set('tag', view.tag, '');
  set('min', view.min, null);
  set('max', view.max, null);
  set('sort', view.order, 'number');
  set('case', view.open, null);
  return params.toString();
}

/** Parses the result of `viewToHash`; ignores invalid parts. */
export function viewFromHash(hash: string): View {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  return {
    query: params.get('q') ?? '',
    status: statuses.find((status) => status === params.get('status')) ?? 'all',
    eval: params.get('eval') ?? '',
    tag: params.get('tag') ?? '',
    min: toNumber(params.get('min')),
    max: toNumber(params.get('max')),
    order: [...orders.keys()].find((order) => order === params.get('sort')) ?? 'number',
    open: toNumber(params.get('case')),
  };
}

export function toNumber(text: string | null): number | null {
  if (text === null || text.trim() === '') return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

export function filterEntries(data: Data, view: View): Entry[] {
  const judge = judgeOf(data, view);
  const kept = data.entries.filter((entry) => {
    const outcome = judge(entry);
    return outcome !== undefined && isOf(view.status, outcome) && fits(entry, outcome, view);
  });
  return sortEntries(kept, judge, view);
}

export function countStatuses(data: Data, view: View): Map<Status, number> {
  const judge = judgeOf(data, view);
  const counts: Map<Status, number> = new Map();
  for (const entry of data.entries) {
    const outcome = judge(entry);
    if (outcome === undefined || !fits(entry, outcome, view)) continue;
    for (const status of statuses)
      if (isOf(status, outcome)) counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts;
}

/** The result of the chosen eval, or of the whole case. Undefined if the eval did not judge it. */
export function judgeOf({ header }: Data, view: View): (entry: Entry) => Judged | undefined {
  if (view.eval === '')
    return (entry) => {
      const { score, passed, flaky } = entry;
      return { score, passed, flaky, unscored: hasUnscored(entry), differs: isDifferent(entry, -1) };
    };
  const place = header.evals.findIndex(({ id }) => id === view.eval);
  return (entry) => {
    const outcome = entry.results.get(place);
    if (outcome === undefined) return undefined;
    return { ...outcome, unscored: outcome.score === null, differs: isDifferent(entry, place) };
  };
}

export function hasUnscored({ results }: Entry) {
  for (const { score } of results.values()) if (score === null) return true;
  return false;
}

type Judged = Outcome & { readonly unscored: boolean; readonly differs: boolean };

function isOf(status: Status, judged: Judged) {
  if (status === 'all') return true;
  return status === 'failed' ? !judged.passed : judged[status];
}

function fits({ tags }: Entry, { score }: Outcome, { tag, min, max }: View) {
  if (tag !== '' && !tags.includes(tag)) return false;
  if (min !== null && (score === null || score < min)) return false;
  return max === null || (score !== null && score <= max);
}

function sortEntries(entries: Entry[], judge: (entry: Entry) => Outcome | undefined, { order }: View) {
  if (order === 'number') return entries;
  if (order === 'id') return entries.sort((a, b) => natural.compare(a.id, b.id));
  // Unscored cases come last in both directions.
  const keys = new Map(
    entries.map((entry) => {
      const score = judge(entry)?.score ?? null;
      return [entry, score === null ? Number.POSITIVE_INFINITY : order === 'lowest' ? score : -score];
    }),
  );
  return entries.sort((a, b) => {
    const [one, other] = [keys.get(a) ?? 0, keys.get(b) ?? 0];
    return one === other ? 0 : one < other ? -1 : 1;
  });
}

const natural = new Intl.Collator('en', { numeric: true });
