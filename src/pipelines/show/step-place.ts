import { splitName } from '../state/retries.ts';

export type WorkKind = 'tool call' | 'model call' | 'score' | 'hooks';

export interface WorkPlace {
  readonly kind: WorkKind;
  /** Empty for work of the run as a whole. */
  readonly step: string;
}

/** Returns undefined for records that only a resumed run needs. */
export function placeOfWork(name: string): WorkPlace | undefined {
  const { path } = splitName(name);
  for (const [kind, pattern] of patterns) {
    const step = pattern.exec(path)?.[1];
    if (step !== undefined) return { kind, step: step.replace(/\/retry-\d+$/, '') };
  }
  return undefined;
}

const call = '(?:/ruling-\\d+)?$';
const round = '/attempt-\\d+/round-(?:\\d+|more)';
/** Step ids have no dash, so names with one are parts of a chat. */
const patterns: readonly (readonly [WorkKind, RegExp])[] = [
  ['tool call', new RegExp(`^(.+?)${round}/call-\\d+${call}`)],
  ['tool call', new RegExp(`^(.+)/call${call}`)],
  ['model call', new RegExp(`^(.+?)${round}(?:/retry-\\d+)?$`)],
  ['score', /^(.+)\/score$/],
  ['score', /^(.+?)\/attempt-\d+\/guardrail-.+$/],
  ['hooks', new RegExp(`^(.+?)(?:${round}/(?:batch|stop|reprompt)|/attempt-\\d+/stop|/turn)$`)],
  ['hooks', /^(@)session\/.+$/],
];

export function isWithin(path: string, step: string): boolean {
  return path === step || path.startsWith(`${step}/`) || path.startsWith(`${step}[`);
}
