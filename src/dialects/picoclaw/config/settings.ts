import type { picoclawMethods } from './events.ts';

export type PicoclawMethod = (typeof picoclawMethods)[number];

/** A PicoClaw process. Times are milliseconds. Source: hook-json-protocol.md. */
export interface PicoclawSettings {
  /** Which protocol applies where the published page and the code of the head differ. */
  readonly version: '0.2.8-doc' | 'head';
  /** What legacy events have in `Kind`: the number of the release, or the name of the page. */
  readonly eventKind: 'number' | 'name';
  readonly intercept: readonly PicoclawMethod[];
  /** Kinds of events, as the file has them; `*`, `all` or `` anywhere is every kind. */
  readonly observe: readonly string[];
  /** Accept a hello whose `ok` is not true. */
  readonly isLenient: boolean;
  readonly helloTimeoutMs: number;
  readonly interceptorTimeoutMs: number;
  readonly approvalTimeoutMs: number;
  readonly observerTimeoutMs: number;
}
