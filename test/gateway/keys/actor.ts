import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAdmission } from '../../../src/gateway/keys/admission.ts';
import type { Lease } from '../../../src/gateway/ports.ts';
import { RefusedCall } from '../../../src/gateway/wire/refusal.ts';

// Admits calls in a process of its own: `node actor.ts ROLE STORE KEY …`. STORE is a file or an address. Output is
// written synchronously.

const [role = '', store = '', key = '', ...rest] = process.argv.slice(2);

function say(word: unknown): void {
  writeSync(1, `${JSON.stringify(word)}\n`);
}

async function waitForGo(): Promise<void> {
  say('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdin.pause();
}

const isAddress = store.startsWith('postgres:');
const admission = await openAdmission({
  store: isAddress
    ? { type: 'postgres', urlEnv: 'URL', folder: '/nowhere' }
    : { type: 'sqlite', file: store },
  env: { URL: store },
  replica: { beatMs: 200, hungMs: 2_000 },
  hookSets: new Map(),
  isKeyRequired: true,
});

async function begin(cost: number): Promise<Lease> {
  const estimate = () => ({ inputTokens: 5, outputTokens: 5, cost });
  return await admission.enter(await admission.authenticate(key), 'small', estimate);
}

function codeOf(error: unknown): string {
  return error instanceof RefusedCall ? `${error.refusal.status} ${error.refusal.code}` : String(error);
}

const roles: Readonly<Record<string, () => Promise<unknown>>> = {
  /**
   * spend STORE KEY LANES: each call reserves one cent and uses half of it, until the budget is spent. Prints when each
   * begins and ends.
   */
  spend: async () => {
    const lanes = Number(rest[0]);
    await waitForGo();
    const lane = async () => {
      for (let isSpent = false; !isSpent; ) {
        try {
          const lease = await begin(0.01);
          say({ began: Number(process.hrtime.bigint()) });
          await sleep(Math.random() * 3);
          say({ ended: Number(process.hrtime.bigint()) });
          await lease.end({ usage: { input: 2, output: 3 }, cost: 0.005 });
        } catch (error) {
          say({ refused: codeOf(error) });
          isSpent = error instanceof RefusedCall && !error.refusal.isRetryable;
          await sleep(1);
        }
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  },

  /** hold STORE KEY CALLS: begins calls and never ends them. */
  hold: async () => {
    const held: Lease[] = [];
    for (let count = 0; count < Number(rest[0]); count += 1) held.push(await begin(0.01));
    say('held');
    await sleep(600_000);
    say(held.length);
  },

  /** fill STORE KEY: one call after another until one is refused, then ten more. */
  fill: async () => {
    await waitForGo();
    const told = new Set<string>();
    for (let count = 0, refused = 0; count < 20_000 && refused < 10; count += 1) {
      try {
        await (await begin(0.001)).end({ usage: { input: 1, output: 1 }, cost: 0.001 });
        if (refused > 0) say({ passed: 'after a refusal' });
      } catch (error) {
        refused += 1;
        told.add(codeOf(error));
      }
    }
    say([...told]);
  },
};

await roles[role]?.();
await admission.close();
