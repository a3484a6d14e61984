import type { Address } from '../connection/address.ts';
import { connect } from '../connection/client.ts';
import { toPostgresError } from '../connection/postgres-error.ts';
import { migrate, migrations } from './migrations.ts';

/** Brings the tables to the version of this Signalbox, and says from which to which. Throws STORE_FAILED. */
export async function migratePostgres(
  address: Address,
  all = migrations,
): Promise<{ readonly from: number; readonly to: number }> {
  try {
    const link = await connect(address);
    try {
      return await migrate(link, address.location, all);
    } finally {
      await link.end();
    }
  } catch (error) {
    throw toPostgresError(error, address);
  }
}
