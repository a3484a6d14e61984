import { workerData } from 'node:worker_threads';
import nunjucks from 'nunjucks';
import { longestText, type RenderReply, type RenderRequest, type ThreadData } from './templates.ts';

/** Renders as promptfoo does: without autoescaping, with its filter `load`. Never throws. */
function renderAll({ templates, vars }: RenderRequest): RenderReply {
  const known = new Set(Object.keys(vars));
  const texts: string[] = [];
  try {
    for (const text of templates) {
      const { template, inspection } = compile(text);
      const refusal = refusalOf(inspection, known);
      if (refusal !== undefined) return { fault: refusal };
      const made = template().render({ ...vars });
      if (made.length > longestText) return { fault: 'produces text of more than 16 MiB' };
      texts.push(made);
    }
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { fault: `fails: ${message.replaceAll(/\s+/g, ' ').replace(/^\(unknown path\)\s*/, '')}` };
  }
  return { texts };
}

// Without loaders, a template cannot read files.
const environment = new nunjucks.Environment([], { autoescape: false, throwOnUndefined: false });
environment.addFilter('load', (text: string): unknown => JSON.parse(text));
environment.addGlobal('range', range);
boundFilters(Reflect.get(environment, 'filters'));

function boundFilters(filters: object): void {
  for (const [name, filter] of Object.entries(filters)) {
    const bounded = function (this: unknown, ...args: unknown[]): unknown {
      for (const each of args) requireShort(each);
      return requireShort(Reflect.apply(filter, this, args));
    };
    environment.addFilter(name, bounded);
  }
}

interface Compiled {
  readonly inspection: Inspection;
  readonly template: () => nunjucks.Template;
}

const compiled = new Map<string, Compiled>();
const mostCompiled = 500;

function compile(text: string): Compiled {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  let template: nunjucks.Template | undefined;
  const made: Compiled = {
    inspection: inspect(text),
    template: () => (template ??= new nunjucks.Template(text, environment)),
  };
  if (compiled.size >= mostCompiled) compiled.clear();
  compiled.set(text, made);
  return made;
}

interface Inspection {
  readonly names: ReadonlySet<string>;
  readonly takesFile: boolean;
}

/** Parses a template without running it. Throws Nunjucks' error for an invalid template. */
function inspect(template: string): Inspection {
  const parser: unknown = Reflect.get(nunjucks, 'parser');
  const parse: unknown = Reflect.get(Object(parser), 'parse');
  if (typeof parse !== 'function') throw new TypeError('nunjucks has no parser');
  const names = new Set<string>();
  let takesFile = false;
  visit(Reflect.apply(parse, parser, [template, [], {}]), ({ typename, value }) => {
    if (fromFiles.includes(typename)) takesFile = true;
    if (typename === 'Symbol' && typeof value === 'string') names.add(value);
  });
  return { names, takesFile };
}

interface TreeNode {
  readonly typename: string;
  readonly fields: readonly string[];
  readonly value?: unknown;
}

const fromFiles = ['Include', 'Import', 'FromImport', 'Extends', 'TemplateRef'];

function visit(value: unknown, see: (node: TreeNode) => void): void {
  if (Array.isArray(value)) for (const each of value) visit(each, see);
  if (!isNode(value)) return;
  see(value);
  for (const field of value.fields) visit(Reflect.get(value, field), see);
}

function isNode(value: unknown): value is TreeNode {
  return typeof value === 'object' && value !== null && 'typename' in value && 'fields' in value;
}

/** Returns why a template is refused, as the end of a sentence, or undefined. */
function refusalOf({ names, takesFile }: Inspection, known: ReadonlySet<string>): string | undefined {
  if (takesFile) return 'includes another file';
  if (names.has('env') && !known.has('env')) return 'uses an environment variable';
  if (names.has('_conversation') && !known.has('_conversation'))
    return 'uses the previous messages of the conversation';
  const bad = [...names].find((name) => !namePattern.test(name) || name in Object.prototype);
  return bad === undefined ? undefined : `uses an invalid name, ${JSON.stringify(bad.slice(0, 40))}`;
}

/** Names become part of the code that Nunjucks generates, so only identifiers are safe. */
const namePattern = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;

/**
 * Prevents templates in this thread from reaching code. Only listed functions can be called, members of prototypes are
 * hidden, and functions do not expose `Function`.
 */
function harden(): void {
  Object.assign(nunjucks.runtime, { memberLookup, fromIterator: requireShort });
  // The name goes into generated code, although only messages need it.
  const compiler: unknown = Reflect.get(nunjucks, 'compiler');
  const { prototype } = Object(Reflect.get(Object(compiler), 'Compiler'));
  Object.assign(prototype, { _getNodeName: () => 'it' });
  for (const each of [() => {}, async () => {}, function* () {}, async function* () {}])
    Object.defineProperty(Object.getPrototypeOf(each), 'constructor', { value: undefined });
  for (const name of Object.getOwnPropertyNames(globalThis))
    if (!kept.has(name)) Reflect.deleteProperty(globalThis, name);
}

/**
 * Items or characters. A single huge list can exceed the memory limit and end the whole process, not only the thread.
 */
const longest = 2_000_000;

function requireShort<Value>(value: Value): Value {
  const isLong = (typeof value === 'string' || Array.isArray(value)) && value.length > longest;
  if (isLong) throw new RangeError('a text or a list is too long for a template');
  return value;
}

function range(start: number, stop?: number, step?: number): readonly number[] {
  const [from, to] = stop === undefined ? [0, start] : [start, stop];
  const by = step || 1;
  const count = Math.max(0, Math.ceil((to - from) / by));
  if (!(count <= longest)) throw new RangeError('a range is too long for a template');
  return Array.from({ length: count }, (_, index) => from + index * by);
}

const kept: ReadonlySet<string> = new Set(
  'Object Function Array Number String Boolean Symbol Math JSON RegExp Date Error TypeError RangeError SyntaxError ReferenceError EvalError URIError Map Set WeakMap WeakSet Promise Reflect Proxy BigInt Atomics SharedArrayBuffer ArrayBuffer Int32Array Uint8Array Infinity NaN undefined globalThis parseInt parseFloat isNaN isFinite encodeURI encodeURIComponent decodeURI decodeURIComponent escape unescape queueMicrotask setImmediate setTimeout'.split(
    ' ',
  ),
);

const methods: Readonly<Record<string, object>> = { string: String.prototype, number: Number.prototype };

const callable: ReadonlySet<string> = new Set(
  'at charAt charCodeAt codePointAt concat endsWith includes indexOf lastIndexOf join match padEnd padStart pop push repeat replace replaceAll reverse search shift slice sort splice split startsWith substr substring toFixed toLowerCase toLocaleString toPrecision toString toUpperCase trim trimEnd trimStart unshift'.split(
    ' ',
  ),
);

/** Replaces Nunjucks's own lookup, which exposes every member. */
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
    // `repeat` and similar methods make a long text from a short one.
    const isCount = args.some((each) => typeof each === 'number' && each > longest);
    if (isCount || typeof method !== 'function') throw new RangeError('too much for a template');
    return requireShort(Reflect.apply(method, holder, args));
  };
}

// Runs in the thread that `templates.ts` starts: one request in, one reply out.

const { port, signal }: ThreadData = workerData;
const flag = new Int32Array(signal);
port.on('message', (request: RenderRequest) => reply(renderAll(request)));
harden();
reply({ texts: [] });

function reply(message: unknown): void {
  port.postMessage(message);
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
}
