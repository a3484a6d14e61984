import { findReferences } from '../../../base/expression/references.ts';
import type { SourceLocation } from '../../../base/yaml/problem.ts';
import { type EventInput, readEvent } from '../../../calls/hooks/event-input.ts';
import type { PointEvent } from '../../../calls/hooks/fire-point.ts';
import type { HookConfig } from '../../../config/config.ts';
import type {
  EvalEvent,
  HookKind,
  NativeEvent,
  SessionEvent,
  ToolHookRequest,
  ToolHookResponse,
} from '../../../contract/hook.ts';
import type { ProviderRequest, ProviderResponse } from '../../../contract/provider.ts';
import type { Trial } from '../../../dialects/foreign-dialect.ts';
import { type ForeignName, foreignDialects, isForeign } from '../../../dialects/registry.ts';
import type { ForeignEntry } from '../../foreign-links.ts';
import type { Entries } from '../../stages/resolve.ts';
import { sampleEvent } from '../sample-events.ts';
import type { HookForm } from './faults.ts';
import type { UntriedHook } from './report.ts';

type NativeEntry = Entries['hooks'][number];

export interface Subject {
  readonly name: string;
  readonly dialect: string;
  readonly form: HookForm;
  readonly moments: readonly Moment[];
  readonly place: SourceLocation;
  readonly native?: NativeEntry;
  readonly foreign?: ForeignEntry;
  readonly trial?: Trial;
}

export async function findSubjects(entries: Entries): Promise<{
  readonly subjects: readonly Subject[];
  readonly untried: readonly UntriedHook[];
}> {
  const subjects: Subject[] = [];
  const untried: UntriedHook[] = [];
  const all = [
    ...entries.hooks.map((native) => ({ place: native.config.fileIndex, native })),
    ...entries.foreign.map((foreign) => ({ place: foreign.config.fileIndex, foreign })),
  ].toSorted((one, other) => one.place - other.place);
  for (const each of all) {
    const found = 'native' in each ? toNative(each.native) : await toForeign(each.foreign);
    if ('why' in found) untried.push({ state: 'never asked', ...found });
    else subjects.push(found);
    if ('native' in each && each.native.config.reach === 'external') {
      untried.push({ hook: each.native.config.name, state: 'unproven', why: whyExternal });
    }
  }
  return { subjects, untried };
}

type Skipped = Pick<UntriedHook, 'hook' | 'why'> & Partial<Pick<UntriedHook, 'state'>>;

const whyExternal =
  'matches no declared tool or provider: this check cannot tell whether an event of a client or an agent reaches it';

function toNative(native: NativeEntry): Subject | Skipped {
  const { config, resolved } = native;
  const { name, mode, reach } = config;
  if (reach === 'none')
    return { hook: name, state: 'unreached', why: 'matches no declared tool: no event reaches it' };
  const unknown = unknownPath(config);
  if (unknown !== undefined)
    return {
      hook: name,
      state: 'unreached',
      why: `its \`when\` reads ${unknown}, which no event of the hook has`,
    };
  if (mode !== 'filter') return { hook: name, why: whyNotAsked[mode] };
  const { dialect, mode: process, endpoint } = resolved.binding;
  const form = endpoint === null ? process : 'http';
  const moments = nativeMoments(config);
  if (moments.length === 0) return { hook: name, why: 'has no event at which it can deny' };
  return { name, dialect, form, moments, place: config.exec.position, native };
}

const whyNotAsked: Readonly<Record<Exclude<HookConfig['mode'], 'filter'>, string>> = {
  observe: 'is an observer: it cannot delay or block a call',
  shadow: 'is a shadow: its decisions are only recorded',
};

async function toForeign(foreign: ForeignEntry): Promise<Subject | Skipped> {
  const { config, resolved } = foreign;
  const { name, dialect, settings, onFailure = 'own', source: place } = config;
  const { binding, http, cwd } = resolved;
  if (binding === undefined && http === undefined)
    return { hook: name, why: 'is a fixed text, without a process' };
  const trial = await foreignDialects[dialect].loadTrial();
  const hooks = await foreignDialects[dialect].loadHooks();
  const moments = foreignMoments(foreign, trial);
  if (moments.length === 0) return { hook: name, why: 'is an observer: it cannot delay or block a call' };
  const entry = { name, onFailure, cwd, settings } as const;
  const asked = moments.filter((moment) => !hooks.isBackground(entry, moment.name));
  if (asked.length === 0) return { hook: name, why: 'runs in the background: no call waits for it' };
  return { name, dialect, form: binding?.mode ?? 'http', moments: asked, place, foreign, trial };
}

export async function loadTrials(entries: readonly ForeignEntry[]): Promise<ReadonlyMap<string, Trial>> {
  const names = new Set(entries.map(({ config }) => config.dialect).filter(isForeign));
  const load = async (name: ForeignName) => [name, await foreignDialects[name].loadTrial()] as const;
  return new Map(await Promise.all([...names].map(load)));
}

export interface Moment {
  readonly name: string;
  readonly event: EventInput | PointEvent;
  readonly native?: NativeEvent;
}

const natives = (['before_call', 'after_call', 'before_execution', 'after_execution'] as const).map(
  (phase) => {
    const event = sampleEvent(phase, 'sample');
    return { name: phase, event, native: readEvent(event) };
  },
);

function nativeMoments({ hook, phases }: HookConfig): readonly Moment[] {
  return natives.filter(({ native }) => native.hook === hook && phases.some((each) => each === native.phase));
}

/**
 * Uses the native phase that leads to the point, else the point. If only the process of the hook knows its points, uses
 * all of the dialect.
 */
function foreignMoments({ config }: ForeignEntry, trial: Trial): readonly Moment[] {
  const dialect = foreignDialects[config.dialect];
  const declared = dialect.declaredPoints(config.settings) ?? Object.keys(dialect.points);
  return declared
    .filter((point) => dialect.points[point]?.isFilter === true)
    .map((point) => {
      const leading = natives.find(({ native }) => dialect.pointsAt(native).includes(point));
      if (leading !== undefined) return { ...leading, name: point };
      return { name: point, event: { dialect: config.dialect, point, payload: trial.payloadAt(point) } };
    });
}

export function pointAt(moment: Moment, entry: ForeignEntry): string | undefined {
  const { dialect: name, settings } = entry.config;
  const dialect = foreignDialects[name];
  const reached = pointsReached(moment, name).filter((point) => dialect.points[point]?.isFilter === true);
  const declared = dialect.declaredPoints(settings);
  return reached.find((point) => declared === undefined || declared.includes(point));
}

function pointsReached(
  { event, native }: Moment,
  name: ForeignEntry['config']['dialect'],
): readonly string[] {
  if (native !== undefined) return foreignDialects[name].pointsAt(native);
  return 'dialect' in event && event.dialect === name ? [event.point] : [];
}

function unknownPath({ hook, phases, match }: Pick<HookConfig, 'hook' | 'phases' | 'match'>) {
  const isAfter = phases.some((phase) => phase.startsWith('after_'));
  const parts = { ...members[hook], ...(!isAfter && { response: undefined }), hook: {}, phase: {} };
  const known = new Map<string, object | undefined>(Object.entries(parts));
  const reads = findReferences(match?.when, ['event']);
  return reads
    .find(({ path: [, part, member] }) => {
      if (part === undefined) return false;
      const own = known.get(part);
      return own === undefined || (member !== undefined && !Object.hasOwn(own, member));
    })
    ?.path.slice(0, 3)
    .join('.');
}

type Members<Part> = Readonly<Record<keyof Part, true>>;

const toolRequest: Members<ToolHookRequest> = {
  ...{ name: true, args: true, call_id: true, tool_use_id: true, category: true, aliases: true },
  isUnknown: true,
};
const toolResponse: Members<ToolHookResponse> = {
  ...{ name: true, call_id: true, content: true, error: true, latency_ms: true, result: true },
};
const providerRequest: Members<ProviderRequest> = {
  ...{ provider_id: true, model: true, messages: true, system_prompt: true, round: true, metadata: true },
  ...{ tools: true, options: true, other: true },
};
const providerResponse: Members<ProviderResponse> = {
  ...{ provider_id: true, model: true, message: true, round: true, latency_ms: true },
};
const sessionEvent: Members<SessionEvent> = {
  ...{ session_id: true, conversation_id: true, messages: true, turn_index: true, metadata: true },
};
const evalEvent: Members<EvalEvent> = {
  ...{
    eval_id: true,
    type: true,
    score: true,
    passed: true,
    explanation: true,
    duration_ms: true,
    error: true,
  },
  ...{ details: true, session_id: true, turn_index: true },
};

const members: Readonly<Record<HookKind, Readonly<Record<string, object>>>> = {
  provider: { request: providerRequest, response: providerResponse },
  tool: { request: toolRequest, response: toolResponse },
  session: { event: sessionEvent },
  eval: { event: evalEvent },
};
