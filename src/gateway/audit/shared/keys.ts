import { RuntimeError } from '../../../base/errors.ts';
import type { Address } from '../../../store/postgres/connection/address.ts';
import type { FunctionCaller } from '../../../store/postgres/function-caller.ts';
import { type AuditKeys, isDigestKey, keysFrom, makeDigestKey, makeSigningKey } from '../keys.ts';
import { atOneMoment } from './read-chains.ts';

/** The names of the keys in the database, as those of the files beside an audit. */
const names = { signing: 'audit signing', public: 'audit public', digest: 'audit digest' } as const;

/** The keys that all replicas have, made where they are missing; `given` takes the place of the signing key. Rejects with STORE_FAILED. */
export async function loadSharedKeys(caller: FunctionCaller, given: string | undefined): Promise<AuditKeys> {
  const keep = async (name: string, value: string) =>
    String(await caller.call({ name: 'gateway_own_key', values: [name, value], order: name }));
  const digest = (await keep(names.digest, makeDigestKey())).trim();
  if (!isDigestKey(digest))
    throw new RuntimeError('STORE_FAILED', `the key of digests in ${caller.location} is not 32 bytes in hex`);
  const keys = keysFrom(given ?? (await keep(names.signing, makeSigningKey())), digest);
  if (given === undefined) await keep(names.public, keys.public);
  return keys;
}

/** The key of that kind, where there is one. Rejects with STORE_FAILED. */
export async function findSharedKey(address: Address, kind: keyof typeof names): Promise<string | undefined> {
  return await atOneMoment(address, async (link) => {
    const text = 'SELECT value FROM signalbox.gateway_own_keys WHERE name = $1';
    const [row] = await link.query({ text, values: [names[kind]] });
    return row && String(row['value']);
  });
}
