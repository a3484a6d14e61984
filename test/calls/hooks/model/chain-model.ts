import { catalogue } from '../../../../src/base/errors.ts';
import { answerOf, faultOf, type Hook, nameOf, type Phase, type Reply } from './hooks.ts';

/** The outcome of a chain in the model. `reason` of a fault is only its beginning. */
export interface Outcome {
  verdict: string;
  hook: string | null;
  reason: string;
  code: string | undefined;
  enforced: boolean;
  replaced: string | null;
  metadata: Readonly<Record<string, number>>;
  abort: string | null;
  text: string;
  /** Observers, with the text that each received. */
  told: string[];
}

/** Decides an event with these hooks, one after another. The event's check refuses the text `bad`. */
export function decideByModel(hooks: readonly Hook[], phase: Phase, reply: Reply): Outcome {
  const outcome: Outcome = {
    ...{ verdict: 'allow', hook: null, reason: '', code: undefined, enforced: false, replaced: null },
    ...{ metadata: {}, abort: null, text: 'begin', told: [] },
  };
  let isStopped = false;
  const stop = (end: Partial<Outcome>): null => {
    isStopped = true;
    Object.assign(outcome, { hook: null, enforced: false, ...end });
    return null;
  };
  const change = (hook: string, text: string) =>
    Object.assign(outcome, { verdict: 'modify', hook, text, replaced: text });
  const affirm = (reason: string, metadata: Outcome['metadata']): null => {
    outcome.metadata = { ...outcome.metadata, ...metadata };
    if (reason !== '') outcome.reason = reason;
    return null;
  };
  const pass = (hook: Hook, index: number): null => {
    const name = nameOf(index);
    const { answer, mode, isMeant } = hook;
    if (!isMeant) return null;
    if (mode === 'observe') outcome.told.push(`${name} ${outcome.text}`);
    if (mode === 'observe' || isStopped) return null;
    const fault = answer.does === 'modify' && answer.text === 'bad' ? 'REPLY_MALFORMED' : faultOf(hook);
    if (fault !== undefined) {
      return stop({
        verdict: 'deny',
        hook: name,
        reason: `the hook failed: ${catalogue[fault].summary}`,
        code: fault,
        metadata: {},
      });
    }
    if (!('reason' in answer)) return null;
    const { does, reason, metadata } = answer;
    if (does === 'allow') return affirm(reason, metadata);
    if (does === 'modify') {
      change(name, answer.text);
      return affirm(reason, metadata);
    }
    if (does === 'deny' || does === 'enforce' || phase !== 'before_execution') {
      const enforced = does === 'enforce' && phase === 'after_call';
      return stop({
        verdict: 'deny',
        hook: name,
        reason: reason || `hook "${name}" denied`,
        metadata,
        enforced,
      });
    }
    if (reply === 'approved before') return affirm('', metadata);
    const said = answerOf(reply);
    if (said === undefined || said.hook === null)
      return stop({ verdict: 'ask', hook: name, reason: reason || `hook "${name}" asks`, metadata });
    if (said.verdict === 'deny' || said.verdict === 'abort') {
      const { verdict, hook: by, abort } = said;
      return stop({ verdict, hook: by, reason: 'desk says', metadata: { desk: 1 }, abort });
    }
    affirm('', metadata);
    if (said.verdict === 'modify') change('desk', 'desk');
    else if (outcome.verdict !== 'modify') outcome.hook = 'desk';
    return affirm('desk says', { desk: 1 });
  };
  hooks.forEach(pass);
  // Only a question shows a person the earlier replacements.
  if (isStopped) outcome.replaced = null;
  return outcome;
}
