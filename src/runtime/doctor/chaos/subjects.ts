import type { SourceLocation } from '../../../base/yaml/problem.ts';
import type { HookConfig } from '../../../config/config.ts';
import type { Trial } from '../../../dialects/foreign-dialect.ts';
import { type ForeignName, foreignDialects, isForeign } from '../../../dialects/registry.ts';
import type { ForeignEntry } from '../../foreign-links.ts';
import type { Entries } from '../../stages/resolve.ts';
import type { HookForm } from './faults.ts';
import { foreignMoments, type Moment, nativeMoments, unknownPath } from './moments.ts';
import type { UntriedHook } from './report.ts';

type NativeEntry = Entries['hooks'][number];

/** A filter of the config that is to be tried. */
export interface Subject {
  readonly name: string;
  readonly dialect: string;
  readonly form: HookForm;
  readonly moments: readonly Moment[];
  readonly place: SourceLocation;
  readonly native?: NativeEntry;
  readonly foreign?: ForeignEntry;
  /** Of a foreign hook. */
  readonly trial?: Trial;
}

/** Every filter with a process or an endpoint, in the order of the file, and the hooks that are never asked. */
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
  'matches no declared tool or provider: whether an event of a client or an agent reaches it cannot be tried here';

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
  if (moments.length === 0) return { hook: name, why: 'is never asked' };
  return { name, dialect, form, moments, place: config.exec.position, native };
}

const whyNotAsked: Readonly<Record<Exclude<HookConfig['mode'], 'filter'>, string>> = {
  observe: 'observes: it is told, never asked',
  shadow: 'is a shadow: what it would decide is only recorded',
};

async function toForeign(foreign: ForeignEntry): Promise<Subject | Skipped> {
  const { config, resolved } = foreign;
  const { name, dialect, settings, onFailure = 'own', source: place } = config;
  const { binding, http, cwd } = resolved;
  if (binding === undefined && http === undefined) return { hook: name, why: 'is a text, without a process' };
  const trial = await foreignDialects[dialect].loadTrial();
  const hooks = await foreignDialects[dialect].loadHooks();
  const moments = foreignMoments(foreign, trial);
  if (moments.length === 0) return { hook: name, why: 'observes: it is told, never asked' };
  const entry = { name, onFailure, cwd, settings } as const;
  const asked = moments.filter((moment) => !hooks.isBackground(entry, moment.name));
  if (asked.length === 0) return { hook: name, why: 'runs in the background: nobody waits for it' };
  return { name, dialect, form: binding?.mode ?? 'http', moments: asked, place, foreign, trial };
}

/** The trials of these dialects, imported. */
export async function loadTrials(entries: readonly ForeignEntry[]): Promise<ReadonlyMap<string, Trial>> {
  const names = new Set(entries.map(({ config }) => config.dialect).filter(isForeign));
  const load = async (name: ForeignName) => [name, await foreignDialects[name].loadTrial()] as const;
  return new Map(await Promise.all([...names].map(load)));
}
