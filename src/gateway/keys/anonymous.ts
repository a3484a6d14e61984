import type { Admission, Caller, Lease } from '../ports.ts';

/** Who calls where no key is asked for: every model, every hook, no limits. */
export const anonymous: Caller = {
  ...{ keyId: null, name: 'anonymous', models: undefined, hooks: undefined, hasBudget: false },
};

/** The place of a call that nothing limits. */
export const freeLease: Lease = { end: async () => {} };

/** Admits everybody; for a gateway without keys. */
export function admitEverybody(): Admission {
  return { authenticate: async () => anonymous, enter: async () => freeLease, close: async () => {} };
}
