import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { limitsContract } from './limits-contract.ts';
import { admit, cents, enter, manage, newStore, refusalOf } from './open.ts';

limitsContract(async () => newStore());

test('every call is refused when the database is lost', async () => {
  const store = newStore();
  const { key } = await (await manage(store)).create({ name: 'team', tokensPerMinute: 1000 });
  const admission = await admit(store);
  const caller = await admission.authenticate(key);
  const lease = await enter(admission, key);
  rmSync(join(dirname(store.file), 'keys.db'));
  const refused = { status: 503, code: 'store_failed', isRetryable: true };
  expect(await refusalOf(admission.enter(caller, 'small', () => cents(1)))).toMatchObject(refused);
  expect(await refusalOf(admission.authenticate(key))).toMatchObject(refused);
  await lease.end({ usage: { input: 1, output: 1 }, cost: 1 });
});
