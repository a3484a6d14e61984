import { extname } from 'node:path';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { type Fault, RuntimeError } from '../../../base/errors.ts';
import type { TextPlace } from '../../kept-text.ts';
import { textFromRow } from '../../rows.ts';
import { decodeRow, type Row } from '../../sqlite/row.ts';
import { closedStoreError } from '../../store-rules.ts';
import type { Address } from '../connection/address.ts';
import { toPostgresError } from '../connection/postgres-error.ts';

/**
 * Reads long texts of runs. Expressions need them synchronously, so recent texts are cached and a thread reads others
 * while this one blocks.
 */
export function createTextReader(address: Address) {
  const recent = new LRUCache<string, string>({
    maxSize: MOST_CHARACTERS,
    sizeCalculation: (text) => text.length + 1,
  });
  const keyOf = ({ runId, step, number }: TextPlace) => JSON.stringify([runId, step, number]);
  let thread: ReturnType<typeof startThread> | undefined;
  let isClosed = false;
  const load = (place: TextPlace): string => {
    if (isClosed) throw closedStoreError(address.location);
    thread ??= startThread(address);
    const reply = thread.ask(place);
    if (reply === undefined) {
      void thread.end();
      thread = undefined;
      throw new RuntimeError('STORE_FAILED', `the state store ${address.location} did not answer in time`, {
        hint: `Check that Postgres runs there, and the address in ${address.variable}.`,
      });
    }
    return textOfReply(reply, place, address);
  };
  return {
    /** Throws STORE_FAILED. */
    read: (place: TextPlace): string => {
      const key = keyOf(place);
      const known = recent.get(key);
      if (known !== undefined) return known;
      const text = load(place);
      recent.set(key, text);
      return text;
    },
    hold: (place: TextPlace, text: string) => void recent.set(keyOf(place), text),
    close: async () => {
      isClosed = true;
      recent.clear();
      await thread?.end();
    },
  };
}

const MOST_CHARACTERS = 32_000_000;
const ANSWER_MS = 20_000;

function textOfReply(reply: TextReply, { step }: TextPlace, address: Address): string {
  if ('fault' in reply) {
    const { code, message, hint, details } = reply.fault;
    throw new RuntimeError(code, message, { hint, ...(details && { details }) });
  }
  try {
    return textFromRow(reply.row && decodeRow(reply.row), step);
  } catch (error) {
    throw toPostgresError(error, address);
  }
}

function startThread(address: Address) {
  const { port1: own, port2: port } = new MessageChannel();
  const count = new Int32Array(new SharedArrayBuffer(4));
  const data: TextThreadData = { address, port, count };
  const file = new URL(`./text-thread${extname(import.meta.url)}`, import.meta.url);
  const options = { name: 'signalbox-texts', env: {}, execArgv: [], workerData: data, transferList: [port] };
  const worker = new Worker(file, options);
  // A failed thread shows as a missing answer.
  worker.on('error', () => {});
  worker.unref();
  let number = 0;
  return {
    /** Blocks until the answer arrives; undefined after a timeout. */
    ask: (place: TextPlace): TextReply | undefined => {
      number += 1;
      const request: TextRequest = { number, place };
      own.postMessage(request);
      const waited = Atomics.wait(count, 0, number - 1, ANSWER_MS);
      return waited === 'timed-out' ? undefined : receiveMessageOnPort(own)?.message;
    },
    end: async () => {
      own.close();
      await worker.terminate();
    },
  };
}

export interface TextThreadData {
  readonly address: Address;
  readonly port: MessagePort;
  /** Its only element counts the replies. */
  readonly count: Int32Array;
}

export interface TextRequest {
  readonly number: number;
  readonly place: TextPlace;
}

/** The stored row of a text; undefined if there is none. */
export type TextReply =
  | { readonly number: number; readonly row: Row | undefined }
  | { readonly number: number; readonly fault: Fault };
