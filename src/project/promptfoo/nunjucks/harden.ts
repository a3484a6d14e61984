import nunjucks from 'nunjucks';

/**
 * Takes from templates in this thread whatever they could reach code by: functions are called by the names below alone,
 * members of prototypes do not exist, and functions do not lead to the one that makes functions.
 */
export function harden(): void {
  Object.assign(nunjucks.runtime, { memberLookup, fromIterator: requireShort });
  // The name stands in the code that is made of the template, and is only for messages.
  const compiler: unknown = Reflect.get(nunjucks, 'compiler');
  const { prototype } = Object(Reflect.get(Object(compiler), 'Compiler'));
  Object.assign(prototype, { _getNodeName: () => 'it' });
  for (const each of [() => {}, async () => {}, function* () {}, async function* () {}])
    Object.defineProperty(Object.getPrototypeOf(each), 'constructor', { value: undefined });
  for (const name of Object.getOwnPropertyNames(globalThis))
    if (!kept.has(name)) Reflect.deleteProperty(globalThis, name);
}

/** Items or characters. A list that grows beyond the memory of its thread at one blow ends the process, not the thread. */
const longest = 2_000_000;

/** Throws RangeError for a text or a list that is too long to work on. */
export function requireShort<Value>(value: Value): Value {
  const isLong = (typeof value === 'string' || Array.isArray(value)) && value.length > longest;
  if (isLong) throw new RangeError('a text or a list is too long for a template');
  return value;
}

/** `range` of Nunjucks, for lists that fit into memory. */
export function range(start: number, stop?: number, step?: number): readonly number[] {
  const [from, to] = stop === undefined ? [0, start] : [start, stop];
  const by = step || 1;
  const count = Math.max(0, Math.ceil((to - from) / by));
  if (!(count <= longest)) throw new RangeError('a range is too long for a template');
  return Array.from({ length: count }, (_, index) => from + index * by);
}

/** What Nunjucks and the language itself need. */
const kept: ReadonlySet<string> = new Set([
  ...[
    'Object',
    'Function',
    'Array',
    'Number',
    'String',
    'Boolean',
    'Symbol',
    'Math',
    'JSON',
    'RegExp',
    'Date',
  ],
  ...['Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError'],
  ...[
    'Map',
    'Set',
    'WeakMap',
    'WeakSet',
    'Promise',
    'Reflect',
    'Proxy',
    'BigInt',
    'Atomics',
    'SharedArrayBuffer',
  ],
  ...['ArrayBuffer', 'Int32Array', 'Uint8Array', 'Infinity', 'NaN', 'undefined', 'globalThis'],
  ...['parseInt', 'parseFloat', 'isNaN', 'isFinite', 'encodeURI', 'encodeURIComponent', 'decodeURI'],
  ...['decodeURIComponent', 'escape', 'unescape', 'queueMicrotask', 'setImmediate', 'setTimeout'],
]);

const methods: Readonly<Record<string, object>> = { string: String.prototype, number: Number.prototype };

/** What templates may call of texts, numbers and lists. */
const callable: ReadonlySet<string> = new Set([
  ...[
    'at',
    'charAt',
    'charCodeAt',
    'codePointAt',
    'concat',
    'endsWith',
    'includes',
    'indexOf',
    'lastIndexOf',
  ],
  ...[
    'join',
    'match',
    'padEnd',
    'padStart',
    'pop',
    'push',
    'repeat',
    'replace',
    'replaceAll',
    'reverse',
    'search',
  ],
  ...[
    'shift',
    'slice',
    'sort',
    'splice',
    'split',
    'startsWith',
    'substr',
    'substring',
    'toFixed',
    'toLowerCase',
  ],
  ...['toLocaleString', 'toPrecision', 'toString', 'toUpperCase', 'trim', 'trimEnd', 'trimStart', 'unshift'],
]);

/** A member of a value as a template may see it, in the place of Nunjucks's own rule, which sees every member. */
function memberLookup(holder: unknown, name: unknown): unknown {
  if (holder === undefined || holder === null || typeof holder === 'function') return undefined;
  const key = typeof name === 'number' ? String(name) : name;
  if (typeof key !== 'string') return undefined;
  const own: unknown = Object.hasOwn(Object(holder), key) ? Reflect.get(Object(holder), key) : undefined;
  if (own !== undefined) return typeof own === 'function' ? bind(own, holder) : own;
  if (!callable.has(key)) return undefined;
  const prototype = Array.isArray(holder) ? Array.prototype : methods[typeof holder];
  const method: unknown = prototype && Reflect.get(prototype, key);
  return typeof method === 'function' ? bind(method, holder) : undefined;
}

function bind(method: unknown, holder: unknown): unknown {
  return (...args: unknown[]): unknown => {
    for (const each of [holder, ...args]) requireShort(each);
    // `repeat` and its like make a long text of a short one.
    const isCount = args.some((each) => typeof each === 'number' && each > longest);
    if (isCount || typeof method !== 'function') throw new RangeError('too much for a template');
    return requireShort(Reflect.apply(method, holder, args));
  };
}
