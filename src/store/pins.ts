import { createHash } from 'node:crypto';
import { all, type Driver, get, maybe } from './driver.ts';
import { DamagedError, numberOf, numberOrNull, type Row, textOf, textOrNull } from './sqlite/row.ts';

/** The definitions of an MCP server by which its tools may be called. Times are in ms since 1970. */
export interface KeptPin {
  /** The name of the server in the config. */
  readonly server: string;
  readonly text: string;
  /** `digestOfPin` of the text. */
  readonly digest: string;
  readonly pinnedAt: number;
  /** The person who accepted the text, and when; null: it was only the first that the server sent. */
  readonly acceptedBy: string | null;
  readonly acceptedAt: number | null;
}

/** All methods throw STORE_FAILED. */
export interface Pins {
  findPin(server: string): Promise<KeptPin | undefined>;
  /** Stores the text unless the server has a pin. Returns the one that stands; across processes, one caller wins. */
  addPin(wanted: { readonly server: string; readonly text: string; readonly at: number }): Promise<KeptPin>;
  /**
   * Replaces the pin whose digest is `instead` by a text that a person accepts. Undefined, and nothing changes, if the
   * server has another pin by now.
   */
  acceptPin(accepted: {
    readonly server: string;
    readonly text: string;
    readonly by: string;
    readonly at: number;
    readonly instead: string;
  }): Promise<KeptPin | undefined>;
}

export function digestOfPin(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

export function pinMethods(driver: Driver): Pins {
  const find = (server: string) => maybe(get(byServer, { server }, 'pin'), pinFromRow);
  return {
    findPin: (server) => driver.read(() => find(server)),
    addPin: ({ server, text, at }) =>
      driver.transact(function* () {
        yield* all(insert, { server, text, digest: digestOfPin(text), at });
        const pin = yield* find(server);
        if (pin === undefined) throw new DamagedError('a row that was just written is missing');
        return pin;
      }),
    acceptPin: ({ text, ...accepted }) =>
      driver.read(() => maybe(get(accept, { ...accepted, text, digest: digestOfPin(text) }), pinFromRow)),
  };
}

const byServer = 'SELECT * FROM signalbox.pins WHERE server = :server';
const insert = `INSERT INTO signalbox.pins (server, text, digest, pinned_at)
  VALUES (:server, :text, :digest, signalbox.now_ms(:at)) ON CONFLICT DO NOTHING`;
const accept = `UPDATE signalbox.pins SET text = :text, digest = :digest, accepted_by = :by,
    accepted_at = signalbox.now_ms(:at) WHERE server = :server AND digest = :instead RETURNING *`;

function pinFromRow(row: Row): KeptPin {
  const text = textOf(row, 'text');
  const digest = textOf(row, 'digest');
  if (digest !== digestOfPin(text)) throw new DamagedError('the digest of the stored pin does not match');
  return {
    ...{ server: textOf(row, 'server'), text, digest, pinnedAt: numberOf(row, 'pinned_at') },
    acceptedBy: textOrNull(row, 'accepted_by'),
    acceptedAt: numberOrNull(row, 'accepted_at'),
  };
}
