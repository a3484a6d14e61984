import {
  type Allow,
  type Answer,
  type Deny,
  deny,
  type HookMode,
  type Modify,
  type NativeEvent,
} from '../contract/hook.ts';
import { type Fault, RuntimeError, toFault } from '../errors.ts';
import { Json } from '../json/json.ts';
import { startStopwatch, wholeMs } from '../time/stopwatch.ts';
import { type Invocation, invoke, type Port } from './invoke.ts';

/** A filter or shadow that can be asked. */
export interface FilterPort extends Port<NativeEvent, Answer> {
  readonly mode: Exclude<HookMode, 'observe'>;
}

/** Takes what a filter affirmed, an allow or a modify; throws to refuse it. */
export type Accept = (answer: Allow | Modify) => void;

/**
 * Asks a hook for its verdict. This is where filters fail closed: any error between the question and
 * `accept` of a documented affirmative is a denial that names the hook. Never rejects.
 */
export async function askHook(
  port: FilterPort,
  invocation: Invocation<NativeEvent>,
  accept: Accept = () => {},
): Promise<Answer> {
  const watch = startStopwatch();
  const answer = await watch.run(() => ask(port, invocation, accept));
  const { hook: kind, phase } = invocation.input;
  port.emit({
    type: 'decision',
    hook: port.binding.name,
    call: invocation.call,
    dialect: port.binding.dialect,
    kind,
    phase,
    mode: port.mode,
    verdict: answer.verdict,
    reason: answer.reason,
    metadata: answer.metadata,
    ...wholeMs(watch.read()),
    ...(answer.verdict === 'deny' && answer.error && { error: answer.error }),
  });
  return answer;
}

async function ask(port: FilterPort, invocation: Invocation<NativeEvent>, accept: Accept): Promise<Answer> {
  const { name } = port.binding;
  try {
    const answer = await invoke(port, invocation);
    if (answer.verdict === 'deny') return { ...answer, reason: answer.reason || `hook "${name}" denied` };
    if (answer.verdict === 'ask') return { ...answer, reason: answer.reason || `hook "${name}" asks` };
    // The native dialects have no other verdict; any other one is denied.
    if (answer.verdict !== 'allow' && answer.verdict !== 'modify') {
      throw new RuntimeError('REPLY_MALFORMED', `its verdict "${answer.verdict}" has no meaning here`);
    }
    accept(answer);
    return answer;
  } catch (error) {
    return denyForFault(name, toFault(error));
  }
}

function denyForFault(name: string, error: Fault): Deny {
  const what = error.code === 'REPLY_MALFORMED' ? 'gave no verdict' : 'failed';
  return { ...deny(`hook "${name}" ${what}: ${error.message}`, false, new Json('{}')), error };
}
