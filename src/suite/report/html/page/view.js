/**
 * @typedef {object} View What is shown: which cases in which order, and which of them is open.
 * @property {string} query
 * @property {Status} status
 * @property {string} eval The id of the eval whose results count; empty for the cases as wholes.
 * @property {string} tag
 * @property {number | null} min Inclusive bounds on the score.
 * @property {number | null} max
 * @property {Order} order
 * @property {number | null} open The number of the case that is open.
 */

/** @typedef {'all' | 'failed' | 'passed' | 'unscored' | 'flaky'} Status */
/** @typedef {'number' | 'lowest' | 'highest' | 'id'} Order */

/** @type {readonly Status[]} */
export const statuses = ['all', 'failed', 'passed', 'unscored', 'flaky'];

/** @type {ReadonlyMap<Order, string>} */
export const orders = new Map([
  ['number', 'Order of the dataset'],
  ['lowest', 'Lowest score first'],
  ['highest', 'Highest score first'],
  ['id', 'By id'],
]);

/** @type {View} */
export const everything = {
  query: '',
  status: 'all',
  eval: '',
  tag: '',
  min: null,
  max: null,
  order: 'number',
  open: null,
};

/**
 * The view as the part of the address behind `#`; what is as usual is not written.
 * @param {View} view
 */
export function viewToHash(view) {
  const params = new URLSearchParams();
  const set = (/** @type {string} */ name, /** @type {unknown} */ value, /** @type {unknown} */ usual) => {
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

/**
 * Reads what `viewToHash` wrote; what makes no sense counts as not there.
 * @param {string} hash
 * @returns {View}
 */
export function viewFromHash(hash) {
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

/**
 * @param {string | null} text
 * @returns {number | null}
 */
export function toNumber(text) {
  if (text === null || text.trim() === '') return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}
