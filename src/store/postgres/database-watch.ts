import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../base/time/async.ts';
import { CHANGES_CHANNEL, type StoreWatch } from '../changes.ts';
import type { Address } from './connection/address.ts';
import { connect, type Link } from './connection/client.ts';

interface Channel {
  readonly name: string;
  /** Set if notifications are sent only while a session is registered, which ends with its last watcher. */
  readonly isRegistered: boolean;
}

export const decisions: Channel = { name: 'signalbox', isRegistered: false };
export const anyChanges: Channel = { name: CHANGES_CHANNEL, isRegistered: true };

/**
 * Watches a channel over a connection of its own, opened for the first watcher. A watcher receives the payload of each
 * notification, and undefined when one may have been missed.
 */
export function createListener(address: Address, { name, isRegistered }: Channel) {
  const watchers = new Set<(payload?: string) => void>();
  let open: { readonly link: Link; readonly leave: () => void } | undefined;
  let isClosed = false;
  let isListening = false;
  let listening: Promise<void> | undefined;
  let attempt = Promise.withResolvers<void>();
  const isWanted = () => watchers.size > 0 && !isClosed;
  const tell = (payload?: string) => {
    for (const onChange of watchers) onChange(payload);
  };
  const forget = () => {
    open?.leave();
    if (open !== undefined) attempt = Promise.withResolvers();
    open = undefined;
  };
  const listen = async () => {
    isListening = true;
    attempt = Promise.withResolvers();
    for (let pauseMs = FIRST_PAUSE_MS; isWanted(); pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        const link = await connect(address);
        const lost = Promise.withResolvers<void>();
        link.onLost(lost.resolve);
        link.onNotification(tell);
        await link.query({ text: `LISTEN ${name}` });
        if (isRegistered) await register(link, tell);
        if (isWanted()) {
          open = { link, leave: lost.resolve };
          // Notifications before the connection was made are lost.
          tell();
          attempt.resolve();
          await lost.promise;
          forget();
          pauseMs = FIRST_PAUSE_MS;
          tell();
        }
        if (isRegistered && !link.isLost())
          await within(
            LEAVE_MS,
            link.query({ text: unregister }).catch(() => {}),
          );
        await link.end();
      } catch {
        // Watchers also poll.
        attempt.resolve();
      }
      if (isWanted()) await sleep(pauseMs, undefined, { ref: false });
    }
    attempt.resolve();
    isListening = false;
  };
  return {
    watch: (onChange: (payload?: string) => void): StoreWatch => {
      // Wrapped, because two watchers may share a function.
      const watcher = (payload?: string) => onChange(payload);
      watchers.add(watcher);
      if (!isListening) listening = listen();
      return {
        isLive: () => open !== undefined && !open.link.isLost(),
        ready: attempt.promise,
        close: () => {
          watchers.delete(watcher);
          if (isRegistered && watchers.size === 0) forget();
        },
      };
    },
    close: async () => {
      isClosed = true;
      watchers.clear();
      const isOpen = open !== undefined;
      forget();
      if (isOpen) await listening;
    },
  };
}

/**
 * Registers the session, and removes those that died. A change that began before cannot have seen it, so watchers are
 * told once more when all transactions of that time have ended.
 */
async function register(link: Link, tell: () => void): Promise<void> {
  await link.query({ text: `${removeDead}; ${addThis}` });
  const [row] = await link.query({
    text: 'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS horizon',
  });
  const hasSettled = async () => {
    const text = 'SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 AS settled';
    const [now] = await link.query({ text, values: [row?.['horizon']] });
    return now?.['settled'] === true;
  };
  if (await hasSettled()) return;
  const settle = async () => {
    for (let pauseMs = FIRST_PAUSE_MS; !(await hasSettled()); pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS))
      await sleep(pauseMs, undefined, { ref: false });
    tell();
  };
  // A lost connection is made again, and registered again.
  void settle().catch(() => {});
}

const removeDead = `DELETE FROM signalbox.watches AS w WHERE NOT EXISTS (
  SELECT 1 FROM pg_stat_activity AS a WHERE a.pid = w.pid AND a.backend_start = w.backend_start)`;
const addThis = `INSERT INTO signalbox.watches
  SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid() ON CONFLICT DO NOTHING`;
const unregister = 'DELETE FROM signalbox.watches WHERE pid = pg_backend_pid()';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
const LEAVE_MS = 1_000;
