import { RuntimeError } from '../../../base/errors.ts';
import { DamagedError } from '../../sqlite/row.ts';
import type { Address } from './address.ts';

/** The five-character code of Postgres, or the code of a network error in Node. */
function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string'
    ? thrown.code
    : undefined;
}

/** Whether the connection is lost or unavailable now, so that another may work. */
export function isLostConnection(thrown: unknown): boolean {
  const code = codeOf(thrown) ?? '';
  if (thrown instanceof RuntimeError || thrown instanceof DamagedError) return false;
  if (/^(08|57P0[1-4]|53300|25P03)/.test(code)) return true;
  if (/^E[A-Z_]{3,}$/.test(code) && !untrusted.test(code)) return true;
  // Errors of `pg` itself have no code.
  return thrown instanceof Error && code === '' && /connection|timeout/i.test(thrown.message);
}

/** Whether another transaction interfered, so that a retry may succeed. */
export function isCollision(thrown: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(thrown) ?? '');
}

/**
 * Turns an error of Postgres, its client or the network into STORE_FAILED; a RuntimeError passes unchanged. The
 * original error is dropped, because it may show the password or the address.
 */
export function toPostgresError(thrown: unknown, address: Address): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const { location, password } = address;
  const code = codeOf(thrown);
  const said = reasonOf(thrown);
  const reason =
    password === '' ? said : said.replaceAll(password, '…').replaceAll(encodeURIComponent(password), '…');
  const isDamage = thrown instanceof DamagedError;
  const { what, hint } = isDamage
    ? damaged
    : /does not support SSL/.test(said)
      ? unencrypted
      : (failures.find(([pattern]) => pattern.test(code ?? ''))?.[1] ?? failed);
  const because = code === undefined ? reason : `${code}: ${reason}`;
  return new RuntimeError('STORE_FAILED', `the state store ${location} ${what} (${because})`, {
    hint: hint(address),
    details: code === undefined ? {} : { postgres_code: code },
  });
}

/** A host with several IP addresses fails with an error for each. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '')
    return thrown.errors.map((each) => reasonOf(each)).join('; ');
  return thrown instanceof Error ? thrown.message : String(thrown);
}

interface Failure {
  readonly what: string;
  readonly hint: (address: Address) => string;
}

const restore = 'Restore a backup. Signalbox does not write to damaged data.';

const damaged: Failure = { what: 'is damaged', hint: () => restore };
const failed: Failure = { what: 'failed', hint: () => 'The log of Postgres says more.' };
const unencrypted: Failure = {
  what: 'does not support encryption',
  hint: ({ variable }) =>
    `Turn on \`ssl\` on the server, or add ?sslmode=disable to the address in ${variable} to connect without encryption.`,
};
const unreachable: Failure = {
  what: 'cannot be reached',
  hint: ({ variable }) => `Check that Postgres runs there, and the address in ${variable}.`,
};

/** Source: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const untrusted = /^ERR_(TLS|SSL|OSSL)|CERT|CRL|_SIGNATURE$/;

/** By the code of Postgres or Node. Source: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const failures: readonly (readonly [RegExp, Failure])[] = [
  [
    untrusted,
    {
      what: 'has an untrusted certificate',
      hint: ({ variable }) =>
        `Name the file of its certificate authority with sslrootcert= in ${variable}, and use the host name of the certificate; sslmode=verify-ca accepts any host name.`,
    },
  ],
  [
    /^28/,
    {
      what: 'refuses this user',
      hint: ({ variable }) => `Check user and password in ${variable}, and pg_hba.conf of the server.`,
    },
  ],
  [
    /^3D000$/,
    {
      what: 'does not exist',
      hint: ({ database }) => `Create the database: createdb ${database}.`,
    },
  ],
  [
    /^42501$/,
    {
      what: 'denies access',
      hint: ({ user, database }) =>
        `Let ${user} use the schema "signalbox" and, for the first start, make it: GRANT CREATE ON DATABASE ${database}.`,
    },
  ],
  [
    /^(53100|58030)$/,
    {
      what: 'has no disk space left',
      hint: () => 'Free space on the disk of the server; this call stored nothing.',
    },
  ],
  [
    /^53300$/,
    {
      what: 'has no free connection',
      hint: () => 'Raise max_connections of the server; each process uses up to six connections.',
    },
  ],
  [
    /^25006$/,
    {
      what: 'is read-only',
      hint: ({ variable }) => `Set ${variable} to the address of the primary server, not a standby.`,
    },
  ],
  [
    /^(55P03|57014)$/,
    {
      what: 'was locked by another transaction for too long',
      hint: () => 'pg_stat_activity shows which session holds the lock; end it, and call again.',
    },
  ],
  [/^(42P01|42703|42883|3F000|23502|23503|23514)$/, damaged],
  [
    /^54000$/,
    {
      what: 'does not accept such a long name',
      hint: () => 'Names of steps and ids of calls may have up to 2,600 bytes in Postgres.',
    },
  ],
  [/^(08|57P0|E[A-Z_]{3,}$)/, unreachable],
];
