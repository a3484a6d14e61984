import type { Target } from './target.ts';

export interface Finding {
  readonly input: string;
  /** Identifies the cause: the kind, the message without its values, and where it was thrown. */
  readonly cause: string;
  readonly message: string;
}

/** The CPU time limit of an input, in ms. */
export const MOST_CPU_MS = 2_000;

/**
 * Returns a finding, or undefined. Most inputs are refused by a throw, so stack traces, which are slow, are only
 * created in a second try.
 */
export async function tryInput({ run }: Target, input: string): Promise<Finding | undefined> {
  const startedAt = performance.now();
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    const outcome = run(input);
    if (outcome instanceof Promise) await outcome;
  } catch (thrown) {
    Error.stackTraceLimit = 20;
    return findingOf(input, await thrownBy(run, input, thrown));
  } finally {
    Error.stackTraceLimit = limit;
  }
  for (const name in probe) return findingOf(input, new Error(`Object.prototype has got ${name}`));
  if (performance.now() - startedAt < MOST_CPU_MS) return undefined;
  return tryTime(run, input);
}

const probe = {};

async function thrownBy(run: Target['run'], input: string, first: unknown): Promise<unknown> {
  try {
    await run(input);
    return first;
  } catch (thrown) {
    return thrown;
  }
}

/** Repeats a slow input by CPU time, because another program may have used the CPU. */
async function tryTime(run: Target['run'], input: string): Promise<Finding | undefined> {
  const before = process.threadCpuUsage();
  try {
    await run(input);
  } catch {
    // The first try did not throw; only the time counts.
  }
  const { user, system } = process.threadCpuUsage(before);
  const took = (user + system) / 1_000;
  return took < MOST_CPU_MS ? undefined : findingOf(input, new Error(`it took ${Math.round(took)} ms`));
}

function findingOf(input: string, thrown: unknown): Finding {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at .*\/(src|targets)\//.test(line));
  const places = frames.slice(0, 2).map((line) => line.replace(/^.*\/(src|targets)\//, ''));
  const words = error.message.replaceAll(/["'`].*|[^\x20-\x7e].*|\d+/gsu, '').slice(0, 80);
  return {
    input,
    cause: `${error.name} ${words.split(/[:|]/)[0]} ${places.join(' < ')}`,
    message: (error.stack ?? error.message).slice(0, 2_000),
  };
}

export async function minimize(target: Target, finding: Finding): Promise<Finding> {
  let smallest = finding;
  const deadline = performance.now() + 10_000;
  for (let size = finding.input.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at + size <= smallest.input.length && performance.now() < deadline; ) {
      const input = smallest.input.slice(0, at) + smallest.input.slice(at + size);
      const found = await tryInput(target, input);
      if (found?.cause === finding.cause) smallest = found;
      else at += size;
    }
  }
  return smallest;
}
