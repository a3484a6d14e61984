import { setTimeout as sleep } from 'node:timers/promises';
import { Option } from 'commander';
import { RuntimeError } from '../../base/errors.ts';
import type { InboundEvent, Runtime } from '../../runtime/runtime.ts';
import type { CommandContext } from '../command.ts';

/** The time within which an agent has to have its answer. */
export function answerWithin(usual: string): Option {
  return new Option('--answer-within <duration>', 'deny what has not been judged by then').default(usual);
}

/** The milliseconds of that option. Throws USAGE. */
export async function requireWithin(text: string): Promise<number> {
  const { parseDuration } = await import('../../runtime/runtime.ts');
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new RuntimeError('USAGE', `--answer-within takes a duration, not "${text}"`, {
    hint: 'Write it like 4500ms, 55s or 10m.',
  });
}

/** What the hooks of the config, and people, say to an event of an agent. Rejects with PROCESS_TIMEOUT after that time. */
export async function judgeWithin(
  { invocation, signal }: Pick<CommandContext, 'invocation' | 'signal'>,
  runtime: Runtime,
  { event, withinMs }: { readonly event: InboundEvent; readonly withinMs: number },
) {
  const late = AbortSignal.timeout(withinMs);
  const options = { signal: AbortSignal.any([signal, late]), withinMs, cwd: invocation.cwd };
  return await Promise.race([runtime.agents.judge(event, options), tooLate(withinMs)]);
}

async function tooLate(ms: number): Promise<never> {
  await sleep(ms, undefined, { ref: false });
  throw new RuntimeError('PROCESS_TIMEOUT', `it has not been judged within ${ms} ms`);
}
