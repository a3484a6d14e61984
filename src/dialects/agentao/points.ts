import { RuntimeError } from '../../base/errors.ts';
import type { EventPhase, HookEvent } from '../../contract/hook.ts';
import type { Point } from '../foreign-dialect.ts';

const composition = { verdict: 'strictest' } as const;
const filter = { order: 'serial', isFilter: true, composition } as const;
const observer = { order: 'serial', isFilter: false, isAwaited: true, composition } as const;

/** Source: Agentao's developer guide, chapter 5.7. */
export const points = {
  UserPromptSubmit: { ...filter, ends: ['deny', 'abort'] },
  SessionStart: filter,
  SessionEnd: observer,
  PreToolUse: { ...filter, ends: ['deny', 'abort'] },
  PostToolUse: filter,
  PostToolUseFailure: filter,
  // A modify forces a further turn.
  Stop: { ...filter, ends: ['deny', 'abort', 'modify'] },
  PreCompact: observer,
} as const satisfies Readonly<Record<string, Point>>;

export type PointName = keyof typeof points;

export function isFlat(point: PointName): boolean {
  return point === 'Stop' || point === 'PreCompact';
}

export function requirePoint(name: string): PointName {
  if (isPoint(name)) return name;
  throw new RuntimeError('INTERNAL', `agentao has no event "${name}"`);
}

function isPoint(name: string): name is PointName {
  return Object.hasOwn(points, name);
}

export function pointsAt(event: HookEvent): readonly PointName[] {
  const isOfCall = event.phase === 'before_execution' || event.phase === 'after_execution';
  if (isOfCall && event.request.isUnknown === true) return [];
  if (event.phase === 'after_execution' && event.response.error !== '') return ['PostToolUseFailure'];
  const point = pointOfMoment[event.phase];
  return point === undefined ? [] : [point];
}

const pointOfMoment: Partial<Readonly<Record<EventPhase, PointName>>> = {
  session_start: 'SessionStart',
  session_end: 'SessionEnd',
  prompt: 'UserPromptSubmit',
  before_execution: 'PreToolUse',
  after_execution: 'PostToolUse',
  stop: 'Stop',
};

const pairs: readonly (readonly [agentao: string, claude: string])[] = [
  ['read_file', 'Read'],
  ['write_file', 'Write'],
  ['replace', 'Edit'],
  ['run_shell_command', 'Bash'],
  ['glob', 'Glob'],
  ['search_file_content', 'Grep'],
  ['web_fetch', 'WebFetch'],
  ['web_search', 'WebSearch'],
  ['list_directory', 'LS'],
  ['save_memory', 'SaveMemory'],
  ['ask_user', 'AskUser'],
  ['todo_write', 'TodoWrite'],
  ['plan_save', 'PlanSave'],
  ['plan_finalize', 'PlanFinalize'],
  ['activate_skill', 'ActivateSkill'],
];

/** The tool name in payloads: Claude's name for the first alias, or for the tool's own name without aliases. */
export function toolNameForHooks(name: string, aliases: readonly string[] = []): string {
  const known = aliases[0] ?? name;
  return pairs.find(([agentao]) => agentao === known)?.[1] ?? known;
}

export function agentaoToolName(name: string): string {
  return pairs.find(([, claude]) => claude === name)?.[0] ?? name;
}

export function allToolNames(name: string, aliases: readonly string[] = []): readonly string[] {
  const declared = [name, ...aliases];
  const paired = pairs.filter((pair) => pair.some((each) => declared.includes(each))).flat();
  return [...new Set([...declared, ...paired])];
}
