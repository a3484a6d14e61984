import { Json } from '../../../base/json/json.ts';
import type { Reply } from '../../../contract/exchange.ts';
import type { Trial } from '../../../dialects/foreign-dialect.ts';
import type { Binding } from '../../../process/binding.ts';
import type { Cassette } from '../../../process/cassette/cassette.ts';
import type { Transport } from '../../../process/transport.ts';
import type { ForeignEntry } from '../../foreign-links.ts';
import type { Entries } from '../../stages/resolve.ts';
import type { HookForm } from './faults.ts';
import { type Moment, pointAt } from './moments.ts';
import type { Subject } from './subjects.ts';

/** The entries of a chain with one filter that fails, and what the others answer, by name. */
export interface Chain {
  readonly entries: Entries;
  readonly consents: ReadonlyMap<string, string>;
}

/** What takes the place of the subject's own process or endpoint. */
export interface Replacement {
  readonly binding?: (binding: Binding) => Binding;
  readonly url?: string;
  readonly timeoutMs: number;
  readonly greetingMs: number;
}

/** What every consenting native filter answers. Source: docs/hooks.md, "Replies of a filter". */
export const nativeConsent = '{"allow": true}';

/** How many filters before the subject, and behind it, are asked with it. */
const NEIGHBOURS = 16;

/** The subject with its replacement, among its neighbours at that moment. */
export function chainAround(
  subject: Subject,
  moment: Moment,
  { entries, trials, replacement }: ChainParts,
): Chain {
  const consents = new Map<string, string>();
  const hooks = entries.hooks.flatMap((entry) => {
    if (entry === subject.native) return [heard(withBinding(entry, replacement))];
    const { name, mode, hook, phases } = entry.config;
    const isAsked = hook === moment.native?.hook && phases.some((phase) => phase === moment.native?.phase);
    if (mode !== 'filter' || !isAsked || name === subject.name) return [];
    consents.set(name, nativeConsent);
    return [heard(entry)];
  });
  const foreign = entries.foreign.flatMap((entry) => {
    if (entry === subject.foreign) return [atPoint(entry, { point: moment.name, replacement, trials })];
    const { name, dialect } = entry.config;
    const point = pointAt(moment, entry);
    if (point === undefined || name === subject.name) return [];
    consents.set(name, trials.get(dialect)?.consentAt(point) ?? '');
    return [atPoint(entry, { point, trials })];
  });
  const near = nearest(subject, { hooks, foreign });
  return { entries: { ...near, tools: [], evals: [], all: [] }, consents };
}

interface ChainParts {
  readonly entries: Entries;
  readonly trials: ReadonlyMap<string, Trial>;
  readonly replacement: Replacement;
}

function withBinding(
  entry: Entries['hooks'][number],
  { binding: change = (own) => own, url, timeoutMs }: Replacement,
): Entries['hooks'][number] {
  const { resolved } = entry;
  const { endpoint, ...own } = change(resolved.binding);
  // The stand-in speaks plain HTTP, whatever the endpoint's own certificate is of.
  const other =
    endpoint && url !== undefined ? { endpoint: { ...endpoint, url, ca: null }, timeoutMs } : { endpoint };
  return { ...entry, resolved: { ...resolved, binding: { ...own, ...other } } };
}

/** The hook as one that hears of every event, whatever its `match` says. */
function heard(entry: Entries['hooks'][number]): Entries['hooks'][number] {
  const { match: _match, ...config } = entry.config;
  return { ...entry, config };
}

interface Placing {
  readonly point: string;
  readonly trials: ReadonlyMap<string, Trial>;
  readonly replacement?: Replacement;
}

/** The hook as one that hears of the point, whatever its matchers say. */
function atPoint({ config, resolved }: ForeignEntry, { point, trials, replacement }: Placing): ForeignEntry {
  const { timeoutMs = 1000, greetingMs = 1000, binding, url } = replacement ?? {};
  const settings = trials.get(config.dialect)?.settingsAt(config.settings, { point, timeoutMs, greetingMs });
  return {
    config: { ...config, settings },
    resolved: {
      ...resolved,
      ...(resolved.binding && binding && { binding: binding(resolved.binding) }),
      ...(resolved.http && url !== undefined && { http: { ...resolved.http, url, timeoutMs } }),
    },
  };
}

type Hooks = Pick<Entries, 'hooks' | 'foreign'>;

/** The chain of thousands of filters would take longer than all that it is there to show. */
function nearest({ name }: Subject, { hooks, foreign }: Hooks): Hooks {
  if (hooks.length + foreign.length <= 2 * NEIGHBOURS + 1) return { hooks, foreign };
  const order = [...hooks, ...foreign].toSorted(
    (one, other) => one.config.fileIndex - other.config.fileIndex,
  );
  const at = order.findIndex(({ config }) => config.name === name);
  const kept = new Set<unknown>(order.slice(Math.max(0, at - NEIGHBOURS), at + NEIGHBOURS + 1));
  return {
    hooks: hooks.filter((entry) => kept.has(entry)),
    foreign: foreign.filter((entry) => kept.has(entry)),
  };
}

/** In the place of a cassette: the neighbours consent without a process, and the subject is really asked. */
export function consentingNeighbours(consents: ReadonlyMap<string, string>): Cassette {
  return {
    wrap: ({ name, mode }, open) => {
      const consent = consents.get(name);
      return consent === undefined ? open() : saying(mode, consent);
    },
    isLive: () => true,
    redact: (text) => text,
    onMiss: () => {},
    findRecordingFault: async () => undefined,
    misses: () => 0,
    close: async () => {},
  };
}

function saying(mode: HookForm, text: string): Transport {
  const reply: Reply =
    mode === 'server'
      ? { via: 'rpc', result: new Json(text) }
      : { via: 'process', exitCode: 0, signal: null, stdout: Buffer.from(text), stderr: '' };
  return { exchange: async () => reply, notify: async () => {}, warm: () => {}, close: async () => {} };
}
