import type { Binding } from '../binding.ts';
import { findPipeMaker, type HandedPipes } from '../launch/handed-pipes.ts';
import type { ProcessContext } from '../process.ts';
import { createBackOff } from '../spare/back-off.ts';
import { settledStamp, stampOf } from '../spare/stamp.ts';
import { type Helper, startHelper } from './helper.ts';
import { findPython } from './python.ts';

/** The helpers of one entry, one after another: a new one after each change of the entry's files. */
export interface Forks {
  /** The helper that forks from the files as they are now; undefined while the entry runs as one-shot. Never rejects. */
  find(): Promise<Helper | undefined>;
  /** From here on there is no helper any more, for those who wait for one either. */
  stop(): void;
  /** Ends all helpers, and with them their children. Never rejects. */
  close(): Promise<void>;
}

/** The helper that was last started, or tried; undefined stands for none with these files. */
interface Attempt {
  readonly stamp: string;
  readonly since: number;
  readonly helper: Promise<Helper | undefined>;
}

type MakePipes = (input: Uint8Array) => HandedPipes;

/** Opens the helpers of an entry; starts none. `note` is told why the entry runs as one-shot. */
export function openForks(binding: Binding, context: ProcessContext, note: (reason: string) => void): Forks {
  const helpers = new Set<Helper>();
  const backOff = createBackOff();
  const makePipes = findPipeMaker();
  const stopping = Promise.withResolvers<undefined>();
  let isStopped = false;
  let current: Attempt | undefined;
  let notBefore = 0;

  const keep = async (helper: Helper, stamp: string) => {
    helpers.add(helper);
    const how = await helper.gone;
    helpers.delete(helper);
    if (how === 'ended') return;
    if (helper.hasServed()) backOff.recordTaken();
    if (backOff.recordDeath(stamp)) note('the process that forks it has died five times in a row');
    notBefore = performance.now() + backOff.delayMs();
  };
  const open = async (pipes: MakePipes): Promise<Helper | undefined> => {
    const stamp = await settledStamp(binding);
    const python = findPython(binding);
    if ('reason' in python) return void note(python.reason);
    if (isStopped || !backOff.admits(stamp)) return undefined;
    const helper = await startHelper(binding, context, { python, makePipes: pipes });
    void keep(helper, stamp);
    const refused = await Promise.race([helper.refused, stopping.promise.then(() => 'it is closed')]);
    if (refused === undefined) return helper;
    void helper.end();
    if (!isStopped) note(refused);
    return undefined;
  };
  const renew = (pipes: MakePipes, stamp: string) => {
    void current?.helper.then((helper) => helper?.retire());
    // What cannot be started now: the call starts the script itself, and tells what is wrong.
    current = { stamp, since: performance.now(), helper: open(pipes).catch(() => undefined) };
  };
  const isOld = ({ since }: Attempt) => performance.now() - since > MAX_AGE_MS;
  return {
    find: async () => {
      if (makePipes === undefined) return void note('it needs Linux with glibc, and the package koffi');
      while (!isStopped) {
        const stamp = stampOf(binding).text;
        if (current?.stamp !== stamp || isOld(current)) renew(makePipes, stamp);
        const attempt = current;
        const helper = await attempt?.helper;
        if (attempt !== current) continue;
        if (helper === undefined || helper.isAlive()) return isStopped ? undefined : helper;
        if (performance.now() < notBefore) return undefined;
        renew(makePipes, stamp);
      }
      return undefined;
    },
    stop: () => {
      isStopped = true;
      stopping.resolve(undefined);
    },
    close: async () => {
      await current?.helper;
      await Promise.all([...helpers].map((helper) => helper.end()));
    },
  };
}

/** What it has imported from outside the entry's folders may have changed. */
const MAX_AGE_MS = 5 * 60_000;
