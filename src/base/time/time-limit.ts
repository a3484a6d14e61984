import { setImmediate as nextTurn } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';
import { isObject } from '../json/json.ts';

/**
 * Runs synchronous work for at most a second. The work must have no side effects: it may be interrupted
 * anywhere, and is repeated if it got too little processor time. Throws RangeError naming `what` on timeout,
 * and what the work throws.
 */
export function withinLimit<T>(what: string, work: () => T): T {
  if (isRunning) return work();
  for (let limits = 1; ; limits++) {
    const before = process.cpuUsage();
    const done = attempt(work);
    if (done !== undefined) return done.value;
    const { user, system } = process.cpuUsage(before);
    if (limits === MAX_ATTEMPTS || (user + system) / 1000 >= LIMIT_MS / 2) {
      throw new RangeError(`${what} took longer than ${LIMIT_MS / 1000} s`);
    }
  }
}

/**
 * Yields to signals and timers if such work has blocked the event loop since the last call; for callers in a
 * loop.
 */
export async function yieldAfterLongWork(): Promise<void> {
  if (!hasBlocked) return;
  hasBlocked = false;
  await nextTurn();
}

let hasBlocked = false;

const LIMIT_MS = 1000;
/** How often work is tried again that got too little processor time. */
const MAX_ATTEMPTS = 3;

let isRunning = false;

/** Undefined when the time is up. */
function attempt<T>(work: () => T): { readonly value: T } | undefined {
  let done: { readonly value: T } | undefined;
  runner ??= openRunner();
  const { script, scope } = runner;
  scope.work = () => {
    done = { value: work() };
  };
  isRunning = true;
  hasBlocked = true;
  try {
    script.runInContext(scope, { timeout: LIMIT_MS, displayErrors: false });
    return done;
  } catch (thrown) {
    if (isTimeout(thrown)) return undefined;
    throw thrown;
  } finally {
    isRunning = false;
    scope.work = undefined;
  }
}

let runner: ReturnType<typeof openRunner> | undefined;

/** Only `node:vm` can interrupt what never looks up, a regular expression in the middle of a match included. */
function openRunner() {
  const scope: { work: (() => void) | undefined } = { work: undefined };
  createContext(scope);
  return { scope, script: new Script('work()') };
}

/** The error may be of the context's own kind. */
function isTimeout(thrown: unknown): boolean {
  return isObject(thrown) && thrown['code'] === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
