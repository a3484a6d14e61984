import { setImmediate as nextTurn } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';
import { isObject } from '../json/json.ts';

/**
 * Does work that a value from outside could drag out, and gives it up after a second. It must keep no state of its own:
 * it may be cut off anywhere, and is done again where it had no processor. Throws RangeError that says what took so long,
 * and what the work throws.
 */
export function withinLimit<T>(what: string, work: () => T): T {
  if (isRunning) return work();
  for (let limits = 1; ; limits++) {
    const before = process.cpuUsage();
    const done = attempt(work);
    if (done !== undefined) return done.value;
    const { user, system } = process.cpuUsage(before);
    if (limits === PATIENCE || (user + system) / 1000 >= LIMIT_MS / 4) {
      throw new RangeError(`${what} took longer than ${LIMIT_MS / 1000} s`);
    }
  }
}

/** Lets signals and timers be heard where such work has held them up since the last time; whoever does it in a row waits for this. */
export async function catchUp(): Promise<void> {
  if (!hasHeldUp) return;
  hasHeldUp = false;
  await nextTurn();
}

let hasHeldUp = false;

const LIMIT_MS = 1000;
/** Work that has had no processor has not taken long; it is given this many times the limit to get one. */
const PATIENCE = 3;

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
  hasHeldUp = true;
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
