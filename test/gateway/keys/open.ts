import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { StateStoreConfig } from '../../../src/config/config.ts';
import {
  type AdmissionOptions,
  type OpenAdmission,
  openAdmission,
} from '../../../src/gateway/keys/admission.ts';
import { type KeyManager, openKeyManager } from '../../../src/gateway/keys/manager.ts';
import type { Estimate, Lease } from '../../../src/gateway/ports.ts';
import { RefusedCall } from '../../../src/gateway/wire/refusal.ts';

export function newStore(): Extract<StateStoreConfig, { type: 'sqlite' }> {
  return { type: 'sqlite', file: join(mkdtempSync(join(tmpdir(), 'keys-')), '.signalbox/state.db') };
}

/** The addresses of databases, by environment variable. */
export const testEnv: Record<string, string> = {};

export async function manage(store: StateStoreConfig, now?: () => number): Promise<KeyManager> {
  const keys = await openKeyManager(store, { env: testEnv, ...(now && { now }) });
  onTestFinished(() => keys.close());
  return keys;
}

export async function admit(
  store: StateStoreConfig,
  options: Partial<AdmissionOptions> = {},
): Promise<OpenAdmission> {
  const admission = await openAdmission({
    ...{ store, env: testEnv, hookSets: new Map(), isKeyRequired: true },
    ...options,
  });
  onTestFinished(() => admission.close());
  return admission;
}

export async function enter(
  admission: OpenAdmission,
  key: string,
  { model = 'small', estimate = cents(0) }: { readonly model?: string; readonly estimate?: Estimate } = {},
): Promise<Lease> {
  return await admission.enter(await admission.authenticate(key), model, () => estimate);
}

export function cents(cost: number): Estimate {
  return { inputTokens: 10, outputTokens: 10, cost: cost / 100 };
}

/** The refusal that the caller receives. Throws if the call is not refused. */
export async function refusalOf(call: Promise<unknown>): Promise<RefusedCall['refusal']> {
  try {
    await call;
  } catch (error) {
    if (error instanceof RefusedCall) return error.refusal;
    throw error;
  }
  throw new Error('the call was not refused');
}

/** A clock that only `move` changes. */
export function clockAt(start: string) {
  let at = Date.parse(start);
  return {
    now: () => at,
    move: (ms: number) => {
      at += ms;
    },
  };
}
