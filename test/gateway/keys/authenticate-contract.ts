import { expect, test } from 'vitest';
import type { StateStoreConfig } from '../../../src/config/config.ts';
import { createKeyText } from '../../../src/gateway/keys/key-text.ts';
import { admit, cents, clockAt, enter, manage, refusalOf } from './open.ts';

/** `newStore` returns a store without keys. */
export function authenticateContract(newStore: () => Promise<StateStoreConfig>): void {
  test('a key names its caller, its models and the hooks of its set', async () => {
    const store = await newStore();
    const keys = await manage(store);
    const { key, id } = await keys.create({ name: 'team-a', models: ['small'], hooks: 'strict' });
    const admission = await admit(store, { hookSets: new Map([['strict', ['pii', 'tone']]]) });
    expect(await admission.authenticate(key)).toEqual({
      ...{ keyId: id, name: 'team-a', models: ['small'], hooks: ['pii', 'tone'], hasBudget: false },
    });
    const free = await keys.create({ name: 'team-b' });
    expect(await admission.authenticate(free.key)).toMatchObject({ models: undefined, hooks: undefined });
  });

  test.each([
    ['no key', undefined],
    ['an empty key', ''],
    ['the key of another service', 'sk-proj-1234567890abcdef'],
    ['a key that nobody has', createKeyText()],
    ['a key and more', `${createKeyText()}x`],
    ['a key with a zero byte', `${createKeyText()}\0`],
  ])('%s is refused with 401', async (_, text) => {
    const store = await newStore();
    await (await manage(store)).create({ name: 'team' });
    const admission = await admit(store);
    expect(await refusalOf(admission.authenticate(text))).toMatchObject({
      ...{ status: 401, code: 'invalid_api_key', isRetryable: false },
    });
  });

  test('a revoked key is refused from the next call on, in every process', async () => {
    const store = await newStore();
    const keys = await manage(store);
    const { key, id } = await keys.create({ name: 'team' });
    const first = await admit(store);
    const second = await admit(store);
    const caller = await first.authenticate(key);
    await second.authenticate(key);
    await keys.revoke('team');
    expect((await refusalOf(enter(first, key))).status).toBe(401);
    expect((await refusalOf(enter(second, key))).status).toBe(401);
    // The key is also refused between the two steps of one call.
    expect((await refusalOf(first.enter(caller, 'small', () => cents(0)))).status).toBe(401);
    expect(await keys.show(id)).toMatchObject({ status: 'revoked' });
  });

  test('a key expires on time, and its models are exact names', async () => {
    const store = await newStore();
    const clock = clockAt('2026-11-22T12:00:00Z');
    const keys = await manage(store, clock.now);
    const { key } = await keys.create({ name: 'a', models: ['small'], expiresAt: clock.now() + 1000 });
    const admission = await admit(store, { now: clock.now });
    for (const model of ['large', 'smal', 'small-2', 'SMALL', '', '*']) {
      expect(await refusalOf(enter(admission, key, { model }))).toMatchObject({
        ...{ status: 403, code: 'model_not_allowed', param: 'model' },
      });
    }
    await enter(admission, key);
    clock.move(1000);
    expect(await refusalOf(admission.authenticate(key))).toMatchObject({
      status: 403,
      code: 'api_key_expired',
    });
  });

  test('a key for tools or pending calls may call a model only if it names it', async () => {
    const store = await newStore();
    const keys = await manage(store);
    const admission = await admit(store);
    const rights = [{ role: 'admin' }, { tools: ['*'] }, { role: 'viewer', tools: ['read_*'] }] as const;
    for (const [at, wanted] of rights.entries()) {
      const { key, models } = await keys.create({ name: `no-models-${at}`, ...wanted });
      expect(models).toEqual([]);
      expect(await refusalOf(enter(admission, key))).toMatchObject({
        status: 403,
        code: 'model_not_allowed',
      });
      const both = await keys.create({ name: `models-${at}`, models: ['small'], ...wanted });
      await enter(admission, both.key);
      expect((await refusalOf(enter(admission, both.key, { model: 'large' }))).status).toBe(403);
    }
  });

  test('rotation keeps the previous key valid for a while, and never more than two', async () => {
    const store = await newStore();
    const clock = clockAt('2026-11-22T12:00:00Z');
    const keys = await manage(store, clock.now);
    const admission = await admit(store, { now: clock.now });
    const first = await keys.create({ name: 'team' });
    const second = await keys.rotate('team', 60_000);
    expect((await admission.authenticate(first.key)).keyId).toBe(first.id);
    expect((await admission.authenticate(second.key)).keyId).toBe(first.id);
    const third = await keys.rotate('team', 60_000);
    expect((await refusalOf(enter(admission, first.key))).code).toBe('api_key_expired');
    expect((await keys.show('team')).secrets).toHaveLength(2);
    clock.move(60_000);
    expect((await refusalOf(enter(admission, second.key))).code).toBe('api_key_expired');
    await admission.authenticate(third.key);
    const fourth = await keys.rotate('team', 0);
    expect((await refusalOf(enter(admission, third.key))).code).toBe('api_key_expired');
    await admission.authenticate(fourth.key);
  });

  test('a key whose hook set is not in the config is refused, with a warning at startup', async () => {
    const store = await newStore();
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'team', hooks: 'strict' });
    for (const hookSets of [new Map(), new Map([['Strict', []]])]) {
      const admission = await admit(store, { hookSets });
      expect(await refusalOf(admission.authenticate(key))).toMatchObject({
        ...{ status: 403, code: 'api_key_unusable' },
      });
      expect(admission.warnings).toEqual([expect.stringContaining('"strict"')]);
    }
    const { key: other } = await keys.create({ name: 'prototype', hooks: 'constructor' });
    const admission = await admit(store, { hookSets: new Map([['strict', []]]) });
    expect((await refusalOf(admission.authenticate(other))).code).toBe('api_key_unusable');
  });

  test('by default, keys are required as soon as one exists', async () => {
    const store = await newStore();
    const admission = await admit(store, { isKeyRequired: undefined });
    expect(await admission.authenticate('sk-anything')).toMatchObject({ keyId: null, hooks: undefined });
    expect(await admission.hasKeys()).toBe(false);
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'team' });
    expect((await refusalOf(admission.authenticate('sk-anything'))).status).toBe(401);
    await admission.authenticate(key);
    expect(await admission.hasKeys()).toBe(true);
  });

  test('where no key is required, a credential with the prefix of a key must still be valid', async () => {
    const admission = await admit(await newStore(), { isKeyRequired: false });
    await admission.authenticate(undefined);
    expect((await refusalOf(admission.authenticate(createKeyText()))).status).toBe(401);
    expect((await refusalOf(admission.authenticate('sbx_'))).status).toBe(401);
  });
}
