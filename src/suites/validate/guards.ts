import { isObject } from '../../base/json/json.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { itemsAt, valueAt } from '../../base/yaml/read.ts';
import { phasesOf } from '../../contract/hook.ts';
import type { SuiteRuntime } from '../suite-runtime.ts';
import { isHeardByForeignHooks } from './foreign-hooks.ts';
import { evalsPath } from './suite-paths.ts';

/** Finds guards whose event no hook hears, and members that are missing or do not belong to a guard. */
export function findBadGuards(document: YamlDocument, config: SuiteRuntime | undefined): Finding[] {
  return itemsAt(document, evalsPath).flatMap((path): Finding[] => {
    const item = valueAt(document, path);
    if (!isObject(item)) return [];
    if (!('guard' in item)) return findStrayLabel(path, item);
    return [
      ...findMissingLabel(path, item),
      ...findMisplacedMembers(path, item),
      ...findBadEvent([...path, 'guard'], item['guard'], config),
    ];
  });
}

type Members = Readonly<Record<string, unknown>>;

/** `expected` belongs to a guard, and only to one. */
function findStrayLabel(path: Path, item: Members): Finding[] {
  if (!('expected' in item)) return [];
  const hint = 'What a check compares with is one of its params.';
  return [{ path: [...path, 'expected'], message: 'says what a guard should do, and there is none', hint }];
}

/** A guard needs `expected`; the schema checks its type. */
function findMissingLabel(path: Path, item: Members): Finding[] {
  if ('expected' in item) return [];
  const hint = 'Write an expression that is true of what should be flagged, such as ${case.label == "bad"}.';
  return [{ path: [...path, 'expected'], message: 'is required: what should the guard flag?', hint }];
}

function findMisplacedMembers(path: Path, item: Members): Finding[] {
  return ['params', 'content'].flatMap((key) =>
    key in item ? [{ path: [...path, key], message: 'a guard has an event instead' }] : [],
  );
}

function findBadEvent(path: Path, guard: unknown, config: SuiteRuntime | undefined): Finding[] {
  if (!isObject(guard)) return [];
  const { hook, only } = guard;
  // The schema says what is wrong with anything else.
  if (hook !== 'provider' && hook !== 'tool') return [];
  const phases: readonly string[] = phasesOf[hook];
  const { phase = phases[0] } = guard;
  if (typeof phase !== 'string') return [];
  if (!phases.includes(phase)) {
    const hint = `A ${hook} hook has ${phases.join(' and ')}.`;
    return [{ path: [...path, 'phase'], message: `${phase} is no phase of a ${hook} hook`, hint }];
  }
  return [
    ...findBadResponse(path, phase, 'response' in guard),
    ...(config === undefined ? [] : findUnheardEvent(path, { hook, phase, only }, config)),
  ];
}

function findBadResponse(path: Path, phase: string, isThere: boolean): Finding[] {
  const isAfter = phase.startsWith('after_');
  if (isAfter === isThere) return [];
  const place = [...path, 'response'];
  if (isAfter) return [{ path: place, message: `is required: ${phase} is about what came back` }];
  return [{ path: place, message: `${phase} has no response yet`, hint: 'Set `phase`, or take it out.' }];
}

interface GuardTarget {
  readonly hook: string;
  readonly phase: string;
  readonly only: unknown;
}

/** Finds a guard that no hook, or not the one that `only` names, decides: it would let everything pass. */
function findUnheardEvent(path: Path, { hook, phase, only }: GuardTarget, config: SuiteRuntime): Finding[] {
  const { hooks, foreign } = config;
  const deciding = hooks.filter(({ mode }) => mode !== 'observe');
  const listening = deciding.filter((each) => each.hook === hook && each.phases.some((own) => own === phase));
  const names = listening.map(({ name }) => name);
  if (typeof only === 'string' && only !== '') {
    if (names.includes(only)) return [];
    const declared = hooks.find(({ name }) => name === only);
    const foreignHook = foreign.find(({ name }) => name === only);
    const message =
      foreignHook !== undefined && declared === undefined
        ? `hook ${only} is one of ${foreignHook.dialect}, whose hooks are asked together`
        : declared === undefined
          ? `no hook named ${only} is declared`
          : declared.mode === 'observe'
            ? `hook ${only} only observes: it has no verdict`
            : `hook ${only} has no part in ${hook} ${phase}`;
    return [{ path: [...path, 'only'], message, ...suggest(only, names, 'hooks') }];
  }
  if (listening.some(({ mode }) => mode === 'filter') || isHeardByForeignHooks(phase, config)) return [];
  const hint =
    names.length === 0
      ? 'Declare one under `hooks` of the runtime.'
      : `A shadow is asked by its name: only: ${names[0]}.`;
  return [{ path: [...path, 'hook'], message: `no filter is asked at ${hook} ${phase}`, hint }];
}
