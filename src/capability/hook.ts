import type { HookMode } from '../contract/hook.ts';
import { type Answer, type Deny, deny, type HookEvent } from '../contract/hook.ts';
import { type Fault, toFault } from '../errors.ts';
import { Json } from '../json.ts';
import { type Invocation, invoke, type Port } from './invoke.ts';

/** A filter or shadow that can be asked. */
export interface FilterPort extends Port<HookEvent, Answer> {
  readonly mode: Exclude<HookMode, 'observe'>;
}

/**
 * Asks a hook for its verdict. This is where filters fail closed: whatever goes wrong between the question
 * and a documented affirmative is a denial that names the hook. Never rejects.
 */
export async function askHook(port: FilterPort, invocation: Invocation<HookEvent>): Promise<Answer> {
  const startedAt = performance.now();
  const answer = await ask(port, invocation);
  const { hook: kind, phase } = invocation.input;
  port.emit({
    type: 'decision',
    hook: port.binding.name,
    dialect: port.binding.dialect,
    kind,
    phase,
    mode: port.mode,
    verdict: answer.verdict,
    reason: answer.reason,
    metadata: answer.metadata,
    durationMs: Math.round(performance.now() - startedAt),
    ...(answer.verdict === 'deny' && answer.error && { error: answer.error }),
  });
  return answer;
}

async function ask(port: FilterPort, invocation: Invocation<HookEvent>): Promise<Answer> {
  const { name } = port.binding;
  try {
    const answer = await invoke(port, invocation);
    return answer.verdict === 'deny' && answer.reason === ''
      ? { ...answer, reason: `hook "${name}" denied` }
      : answer;
  } catch (error) {
    return denyForFault(name, toFault(error));
  }
}

/** The denial that a fault amounts to. */
export function denyForFault(name: string, error: Fault): Deny {
  const what = error.code === 'REPLY_MALFORMED' ? 'gave no verdict' : 'failed';
  return { ...deny(`hook "${name}" ${what}: ${error.message}`, false, new Json('{}')), error };
}
