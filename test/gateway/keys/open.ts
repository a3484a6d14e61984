import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { StateStoreConfig } from '../../../src/config/config.ts';
import type { Lease } from '../../../src/gateway/call/ports.ts';
import {
  type AdmissionOptions,
  type OpenAdmission,
  openAdmission,
} from '../../../src/gateway/keys/admission.ts';
import { type KeyManager, openKeyManager } from '../../../src/gateway/keys/manager.ts';
import { RefusedCall } from '../../../src/gateway/wire/refusal.ts';

/** A state store in a folder of its own, where nothing is yet. */
export function newStore(): Extract<StateStoreConfig, { type: 'sqlite' }> {
  return { type: 'sqlite', file: join(mkdtempSync(join(tmpdir(), 'keys-')), '.signalbox/state.db') };
}

/** Keys that are closed after the test. */
export async function manage(store: StateStoreConfig, now?: () => number): Promise<KeyManager> {
  const keys = await openKeyManager(store, now);
  onTestFinished(() => keys.close());
  return keys;
}

/** An admission that is closed after the test. */
export async function admit(
  store: StateStoreConfig,
  options: Partial<AdmissionOptions> = {},
): Promise<OpenAdmission> {
  const admission = await openAdmission({ store, hookSets: new Map(), isKeyRequired: true, ...options });
  onTestFinished(() => admission.close());
  return admission;
}

/** Authenticates and enters. */
export async function enter(admission: OpenAdmission, key: string, model = 'small'): Promise<Lease> {
  return await admission.enter(await admission.authenticate(key), model);
}

/** What a refused call is told; throws when it is not refused. */
export async function refusalOf(call: Promise<unknown>): Promise<RefusedCall['refusal']> {
  try {
    await call;
  } catch (error) {
    if (error instanceof RefusedCall) return error.refusal;
    throw error;
  }
  throw new Error('the call was not refused');
}

/** A clock that stands until it is moved. */
export function clockAt(start: string) {
  let at = Date.parse(start);
  return {
    now: () => at,
    move: (ms: number) => {
      at += ms;
    },
  };
}
