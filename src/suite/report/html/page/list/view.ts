import type { RunHeader } from '../../../../run/record.ts';

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

export type Status = 'all' | 'failed' | 'passed' | 'unscored' | 'flaky' | 'differs';
export type Order = 'number' | 'lowest' | 'highest' | 'id';

export const statuses: readonly Status[] = ['all', 'failed', 'passed', 'unscored', 'flaky', 'differs'];

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
