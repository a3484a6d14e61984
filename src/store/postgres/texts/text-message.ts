import type { MessagePort } from 'node:worker_threads';
import type { Fault } from '../../../base/errors.ts';
import type { TextPlace } from '../../kept-text.ts';
import type { Row } from '../../sqlite/row.ts';
import type { Address } from '../connection/address.ts';

/** What the thread that reads texts is started with. */
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

/** The row of a text, as it is kept; undefined where there is none. */
export type TextReply =
  | { readonly number: number; readonly row: Row | undefined }
  | { readonly number: number; readonly fault: Fault };
