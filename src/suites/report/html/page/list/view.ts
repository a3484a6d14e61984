import type { RunHeader } from '../../../../record.ts';
import type { Data, Entry, Outcome } from '../data.ts';
import { isDifferent } from '../matrix/group.ts';

/** What is shown: which cases in which order, and which of them is open. */
export interface View {
  query: string;
  status: Status;
  /** The id of the eval whose results count; empty for the cases as wholes. */
  eval: string;
  tag: string;
  /** Inclusive bounds on the score. */
  min: number | null;
  max: number | null;
  order: Order;
  /** The number of the case that is open. */
  open: number | null;
}

type Status = 'all' | 'failed' | 'passed' | 'unscored' | 'flaky' | 'differs';
type Order = 'number' | 'lowest' | 'highest' | 'id';

const statuses: readonly Status[] = ['all', 'failed', 'passed', 'unscored', 'flaky', 'differs'];

/** Those that a run has: only variants can differ. */
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

/** The view as the part of the address behind `#`; what is as usual is not written. */
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

/** Reads what `viewToHash` wrote; what makes no sense counts as not there. */
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

/** The cases that a view shows, its search aside, in its order. */
export function filterEntries(data: Data, view: View): Entry[] {
  const judge = judgeOf(data, view);
  const kept = data.entries.filter((entry) => {
    const outcome = judge(entry);
    return outcome !== undefined && isOf(view.status, outcome) && fits(entry, outcome, view);
  });
  return sortEntries(kept, judge, view);
}

/** How many cases each status would show. */
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

/** What counts of a case: what the chosen eval said, or the case as a whole; undefined where the eval did not judge. */
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

/** Whether an eval could not score the case. */
export function hasUnscored({ results }: Entry) {
  for (const { score } of results.values()) if (score === null) return true;
  return false;
}

/** What counts of a case or, of a matrix, of a row. */
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
  // What has no score stands last in both orders.
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
