import type { Address } from '../connection/address.ts';
import { connect, type Link } from '../connection/client.ts';
import { toPostgresError } from '../connection/postgres-error.ts';
import { requireTables } from './migrations.ts';

/** A connection to a database with the tables of this version, made where there are none. Throws STORE_FAILED. */
export async function openLink(address: Address): Promise<Link> {
  try {
    const link = await connect(address);
    try {
      await requireTables(link, address.location);
      return link;
    } catch (error) {
      await link.end();
      throw error;
    }
  } catch (error) {
    throw toPostgresError(error, address);
  }
}
