import { setImmediate as nextTurn } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';
import { isObject } from '../json/json.ts';

/**
 * Runs synchronous work for at most a second. The work must have no side effects: it may be interrupted anywhere, and
 * it is repeated if it got too little processor time. Throws RangeError naming `what` on timeout, and any error of the
 * work.
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

/** Yields to signals and timers if such work blocked the event loop since the last call. Call it in loops. */
export async function yieldAfterLongWork(): Promise<void> {
  if (!hasBlocked) return;
  hasBlocked = false;
  await nextTurn();
}

let hasBlocked = false;

const LIMIT_MS = 1000;
const MAX_ATTEMPTS = 3;

let isRunning = false;

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

/** Only `node:vm` can interrupt synchronous code, including a regular expression match. */
function openRunner() {
  const scope: { work: (() => void) | undefined } = { work: undefined };
  createContext(scope);
  return { scope, script: new Script('work()') };
}

/** The error may come from the other context's realm. */
function isTimeout(thrown: unknown): boolean {
  return isObject(thrown) && thrown['code'] === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
