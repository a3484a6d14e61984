import { randomUUID } from 'node:crypto';
import { RuntimeError } from '../../../base/errors.ts';
import type { Row } from '../../sqlite/row.ts';
import type { Address } from './address.ts';

interface Asking {
  query(statement: { readonly text: string; readonly values?: readonly unknown[] }): Promise<Row[]>;
  end(): Promise<void>;
}

interface Processes {
  /** As whom the server introduced itself. */
  readonly told: number;
  /** Which one answers. */
  readonly pid: number;
}

/**
 * Throws STORE_FAILED for a pooler that gives each transaction to another session: the lock of a run would be anybody's. One that
 * keeps the session for its client passes.
 */
export async function requireOwnSession(
  link: Asking,
  { told, pid }: Processes,
  address: Address,
  openAnother: () => Promise<Asking>,
): Promise<void> {
  // Nobody stands between.
  if (told === pid) return;
  const mark = randomUUID();
  await link.query({ text: "SELECT set_config('signalbox.session', $1, false)", values: [mark] });
  const another = await openAnother();
  try {
    // Takes the session that is free, which is ours if it is given to others.
    await another.query({ text: 'BEGIN' });
    const [row] = await Promise.race([link.query({ text: look }), tooLate()]);
    const [taken] = await another.query({ text: look });
    if (row?.['mark'] === mark && taken?.['mark'] !== mark) return;
  } catch (error) {
    // What a pooler in statement mode says of BEGIN.
    if (!isViolation(error)) throw error;
  } finally {
    await another.end();
  }
  throw poolerError(address);
}

/** Source: https://www.postgresql.org/docs/current/errcodes-appendix.html (protocol_violation) */
function isViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '08P01';
}

const look = "SELECT current_setting('signalbox.session', true) AS mark";

/** A pooler whose only session is taken does not answer. */
async function tooLate(): Promise<[]> {
  return await new Promise((resolve) => setTimeout(resolve, WAIT_MS, []));
}

const WAIT_MS = 3_000;

/** STORE_FAILED: what stands between gives out sessions by transaction. */
export function poolerError({ location, variable }: Pick<Address, 'location' | 'variable'>): RuntimeError {
  return new RuntimeError(
    'STORE_FAILED',
    `between Signalbox and the state store ${location} is a pooler in transaction or statement mode, and the lock of a run belongs to a session`,
    { hint: `Let ${variable} name the server itself, or a pool of the pooler with pool_mode = session.` },
  );
}
