import { isIP, Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { Client, QueryResult } from 'pg';
import { RuntimeError } from '../../../base/errors.ts';
import { loadPackage } from '../../../base/optional-package.ts';
import type { Row } from '../../sqlite/row.ts';
import type { Address, Tls } from './address.ts';
import { requireOwnSession } from './pooler.ts';

/** A statement with values for $1, $2, …; a named one is prepared once per session. */
interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
}

export interface Link {
  /** The process ID and start time of the server process; together they identify the session. */
  readonly pid: number;
  readonly backendStart: string;
  /** Rejects with the error of Postgres or the network, and on a timeout. */
  query(statement: Statement): Promise<Row[]>;
  isLost(): boolean;
  onLost(tell: () => void): void;
  onNotification(tell: (payload: string) => void): void;
  end(): Promise<void>;
}

/**
 * Connects, and checks that the server suits a store. Rejects with the error of Postgres or the network, and
 * STORE_FAILED.
 */
export async function connect(address: Address): Promise<Link> {
  const link = await open(address);
  try {
    const { client } = link;
    await link.query({ text: settings });
    const [row] = await link.query({ text: aboutServer });
    requireServer(row ?? {}, address);
    const pid = Number(row?.['pid']);
    await requireOwnSession(link, { told: processOf(client), pid }, address, () => open(address));
    return { ...link, pid, backendStart: String(row?.['started']) };
  } catch (error) {
    await link.end();
    throw error;
  }
}

type BareLink = Omit<Link, 'pid' | 'backendStart'>;

async function open(address: Address): Promise<BareLink & { readonly client: Client }> {
  const pg = await loadPg();
  const { host, port, user, password, database, tls } = address;
  const socket = new Socket();
  const client = new pg.Client({
    ...{ host, port, user, database, ssl: tls === null ? false : toTlsOptions(tls, host) },
    // A function keeps pg from reading the password from files and other variables.
    password: () => password,
    stream: () => socket,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    application_name: 'signalbox',
    types: {
      getTypeParser: (oid: number) =>
        oid === INT8 || oid === INT4 ? Number : oid === BOOL ? isTrue : String,
    },
  });
  const watchers = new Set<() => void>();
  const state = { isLost: false, waiting: 0 };
  const lose = () => {
    if (state.isLost) return;
    state.isLost = true;
    socket.destroy();
    for (const tell of watchers) tell();
  };
  client.on('error', lose).on('end', lose);
  try {
    await client.connect();
  } catch (error) {
    lose();
    throw error;
  }
  socket.unref();
  const query = async ({ text, values = [], name }: Statement): Promise<Row[]> => {
    // An idle connection does not keep the process alive.
    if (++state.waiting === 1) socket.ref();
    try {
      // A text without values may contain several statements.
      const asked =
        values.length === 0 && name === undefined
          ? text
          : { text, values: [...values], ...(name !== undefined && { name }) };
      const answer: QueryResult | QueryResult[] = await client.query(asked);
      // A text of several statements has an answer for each.
      return [answer].flat().flatMap(({ rows }) => rows ?? []);
    } catch (error) {
      // A late answer would be taken for the answer to another statement.
      if (error instanceof Error && error.message === 'Query read timeout') lose();
      throw error;
    } finally {
      if (--state.waiting === 0) socket.unref();
    }
  };
  return {
    ...{ client, query },
    isLost: () => state.isLost,
    onLost: (tell) => void watchers.add(tell),
    onNotification: (tell) => void client.on('notification', ({ payload }) => tell(payload ?? '')),
    end: async () => {
      watchers.clear();
      if (state.isLost) return;
      // Keeps the process alive until the connection has ended.
      socket.ref();
      await client.end().catch(() => {});
      lose();
    },
  };
}

function toTlsOptions({ checks, ca, cert, key }: Tls, host: string): ConnectionOptions {
  return {
    servername: isIP(host) === 0 ? host : '',
    rejectUnauthorized: checks !== 'nothing',
    ...(checks === 'all but the name' && { checkServerIdentity: () => undefined }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}

/** The process ID in the server's greeting, which clients use to cancel. A pooler sends one of its own. */
function processOf(client: Client): number {
  return 'processID' in client && typeof client.processID === 'number' ? client.processID : 0;
}

const INT8 = 20;
const INT4 = 23;
const BOOL = 16;
const isTrue = (text: string) => text === 't';

/** With the next three settings the server drops a dead client after at most ten seconds. */
const KEEP_ALIVE_MS = 3_000;
const CONNECT_MS = 10_000;
/** Longer than any wait for a lock. */
const ANSWER_MS = 30_000;

const settings = `
SET search_path = pg_catalog;
SET standard_conforming_strings = on;
SET lock_timeout = '20s';
SET statement_timeout = '28s';
SET idle_in_transaction_session_timeout = '60s';
SET default_transaction_isolation = 'read committed';
SET tcp_keepalives_idle = 3;
SET tcp_keepalives_interval = 2;
SET tcp_keepalives_count = 3;
SET tcp_user_timeout = 9000;
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
`;

const aboutServer = `
SELECT pg_backend_pid() AS pid, current_setting('server_version_num')::integer AS version,
  current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS is_standby,
  (SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started`;

const OLDEST_VERSION = 130_000;

function requireServer(row: Row, { location, variable, database }: Address): void {
  const { version, encoding } = row;
  if (typeof version === 'number' && version < OLDEST_VERSION) {
    const message = `the state store ${location} is Postgres ${Math.trunc(version / 10_000)}, but version 13 or newer is required`;
    throw new RuntimeError('STORE_FAILED', message, { hint: 'Upgrade the server.' });
  }
  if (encoding !== 'UTF8') {
    throw new RuntimeError(
      'STORE_FAILED',
      `the state store ${location} has the encoding ${String(encoding)}`,
      {
        hint: `Create a database with UTF-8: createdb --encoding UTF8 --template template0 ${database}.`,
      },
    );
  }
  if (row['is_standby'] === true) {
    throw new RuntimeError('STORE_FAILED', `the state store ${location} is a read-only standby`, {
      hint: `Set ${variable} to the address of the primary server.`,
    });
  }
}

/** Loaded on first use. Throws STORE_FAILED if it is not installed. */
async function loadPg(): Promise<typeof import('pg')> {
  return await loadPackage(import('pg'), {
    name: 'pg',
    need: 'a Postgres store needs',
    code: 'STORE_FAILED',
  });
}
