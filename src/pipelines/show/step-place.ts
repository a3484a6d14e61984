import { splitName } from '../state/retries.ts';

/** What a journal entry that is no step of the file records. */
export type WorkKind = 'tool call' | 'model call' | 'score' | 'hooks';

/** A piece of work by its path: what it is, and the step of the file that it was done in. */
export interface WorkPlace {
  readonly kind: WorkKind;
  /** Empty for what is done for the run as a whole. */
  readonly step: string;
}

/** The place of a piece of work; undefined for what is only kept for a resumed run. */
export function placeOfWork(name: string): WorkPlace | undefined {
  const { path } = splitName(name);
  for (const [kind, pattern] of patterns) {
    const step = pattern.exec(path)?.[1];
    // What another attempt at a step did is below the step all the same.
    if (step !== undefined) return { kind, step: step.replace(/\/retry-\d+$/, '') };
  }
  return undefined;
}

const call = '(?:/ruling-\\d+)?$';
const round = '/attempt-\\d+/round-(?:\\d+|more)';
/** Ids of steps have no dash, so what is inside a chat is told from steps of any name. */
const patterns: readonly (readonly [WorkKind, RegExp])[] = [
  ['tool call', new RegExp(`^(.+?)${round}/call-\\d+${call}`)],
  ['tool call', new RegExp(`^(.+)/call${call}`)],
  ['model call', new RegExp(`^(.+?)${round}(?:/retry-\\d+)?$`)],
  ['score', /^(.+)\/score$/],
  ['score', /^(.+?)\/attempt-\d+\/guardrail-.+$/],
  ['hooks', new RegExp(`^(.+?)(?:${round}/(?:batch|stop|reprompt)|/attempt-\\d+/stop|/turn)$`)],
  ['hooks', /^(@)session\/.+$/],
];

/** Whether a path is that of the step or of one inside it. */
export function isWithin(path: string, step: string): boolean {
  return path === step || path.startsWith(`${step}/`) || path.startsWith(`${step}[`);
}
