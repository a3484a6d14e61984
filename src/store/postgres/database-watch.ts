import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreWatch } from '../store.ts';
import type { Address } from './connection/address.ts';
import { connect, type Link } from './connection/client.ts';

/** Tells of decisions that any process makes, over a connection of its own, which is made for the first who wants to know. */
export function createListener(address: Address) {
  const watchers = new Set<() => void>();
  let link: Link | undefined;
  let isClosed = false;
  let isListening = false;
  const tell = () => {
    for (const onChange of watchers) onChange();
  };
  /** Ends when nobody wants to know any more. */
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
        // What was told before, or while there was no connection, was told to nobody.
        tell();
        await lost.promise;
        link = undefined;
        pauseMs = FIRST_PAUSE_MS;
        tell();
      } catch {
        // Whoever watches asks now and then while nothing is told.
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
      // Two watchers may have one function.
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
