import { randomUUID } from 'node:crypto';
import { RuntimeError } from '../../../base/errors.ts';
import type { Row } from '../../sqlite/row.ts';
import type { Address } from './address.ts';

interface Asking {
  query(statement: { readonly text: string; readonly values?: readonly unknown[] }): Promise<Row[]>;
  end(): Promise<void>;
}

interface Processes {
  /** The process ID in the server's greeting. */
  readonly told: number;
  readonly pid: number;
}

/**
 * Throws STORE_FAILED for a pooler that gives each transaction another session, because then locks of runs protect
 * nothing. A pooler with one session per client passes.
 */
export async function requireOwnSession(
  link: Asking,
  { told, pid }: Processes,
  address: Address,
  openAnother: () => Promise<Asking>,
): Promise<void> {
  if (told === pid) return;
  const mark = randomUUID();
  await link.query({ text: "SELECT set_config('signalbox.session', $1, false)", values: [mark] });
  const another = await openAnother();
  try {
    // Takes the free session; it is ours if the pooler shares it.
    await another.query({ text: 'BEGIN' });
    const [row] = await Promise.race([link.query({ text: look }), tooLate()]);
    const [taken] = await another.query({ text: look });
    if (row?.['mark'] === mark && taken?.['mark'] !== mark) return;
  } catch (error) {
    // The error of a pooler in statement mode for BEGIN.
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

export function poolerError({ location, variable }: Pick<Address, 'location' | 'variable'>): RuntimeError {
  return new RuntimeError(
    'STORE_FAILED',
    `the connection to the state store ${location} uses a pooler in transaction or statement mode, but the lock of a run needs a session`,
    { hint: `Set ${variable} to the address of the server itself, or to a pool with pool_mode = session.` },
  );
}
