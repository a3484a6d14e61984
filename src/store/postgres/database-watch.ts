import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreWatch } from '../store.ts';
import type { Address } from './connection/address.ts';
import { connect, type Link } from './connection/client.ts';

/** Watches decisions of all processes over a connection of its own, opened for the first watcher. */
export function createListener(address: Address) {
  const watchers = new Set<() => void>();
  let link: Link | undefined;
  let isClosed = false;
  let isListening = false;
  const tell = () => {
    for (const onChange of watchers) onChange();
  };
  const listen = async () => {
    isListening = true;
    for (
      let pauseMs = FIRST_PAUSE_MS;
      watchers.size > 0 && !isClosed;
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)
    ) {
      try {
        const made = await connect(address);
        const lost = Promise.withResolvers<void>();
        made.onLost(lost.resolve);
        made.onNotification(tell);
        await made.query({ text: 'LISTEN signalbox' });
        if (isClosed || watchers.size === 0) {
          await made.end();
          break;
        }
        link = made;
        // Notifications before the connection was made are lost.
        tell();
        await lost.promise;
        link = undefined;
        pauseMs = FIRST_PAUSE_MS;
        tell();
      } catch {
        // Watchers also poll.
      }
      if (!isClosed) await sleep(pauseMs, undefined, { ref: false });
    }
    isListening = false;
  };
  const end = async () => {
    const open = link;
    link = undefined;
    await open?.end();
  };
  return {
    watch: (onChange: () => void): StoreWatch => {
      // Wrapped, because two watchers may share a function.
      const watcher = () => onChange();
      watchers.add(watcher);
      if (!isListening) void listen();
      return {
        isLive: () => link !== undefined && !link.isLost(),
        close: () => {
          watchers.delete(watcher);
        },
      };
    },
    close: async () => {
      isClosed = true;
      watchers.clear();
      await end();
    },
  };
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
