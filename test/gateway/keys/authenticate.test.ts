import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createKeyText, isKeyText } from '../../../src/gateway/keys/key-text.ts';
import { authenticateContract } from './authenticate-contract.ts';
import { manage, newStore } from './open.ts';

authenticateContract(async () => newStore());

test('only the SHA-256 of a key is kept, and only its creation shows it', async () => {
  const store = newStore();
  const keys = await manage(store);
  const { key } = await keys.create({ name: 'team' });
  expect(key).toMatch(/^sbx_[0-9A-Za-z]{49}$/);
  const shown = JSON.stringify([await keys.list(), await keys.show('team'), await keys.revoke('team')]);
  expect(shown).not.toContain(key.slice(8));
  const folder = dirname(store.file);
  for (const name of ['keys.db', 'keys.db-wal']) {
    expect(readFileSync(join(folder, name)).includes(key.slice(8))).toBe(false);
  }
});

test('the checksum catches a typo anywhere in a key without a database query', () => {
  const key = createKeyText();
  expect(isKeyText(key)).toBe(true);
  for (let index = 0; index < key.length; index += 1) {
    const typo = key[index] === 'a' ? 'b' : 'a';
    expect(isKeyText(key.slice(0, index) + typo + key.slice(index + 1))).toBe(false);
  }
});
