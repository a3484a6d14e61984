/** A template with its variables, sent to the thread. */
export interface RenderRequest {
  /** The texts that are filled in, each by itself. */
  readonly templates: readonly string[];
  readonly vars: Readonly<Record<string, unknown>>;
}

/** The texts, or why one of them cannot be filled in, as the end of a sentence. */
export type RenderReply = { readonly texts: readonly string[] } | { readonly fault: string };

/** What the thread is started with: where it says that a reply is there, and the port for both. */
export interface ThreadData {
  /** One 32-bit number: 0 while a reply is waited for, 1 once it is there. */
  readonly signal: SharedArrayBuffer;
  readonly port: import('node:worker_threads').MessagePort;
}

/** Characters; what one template may make. */
export const longestText = 16 * 1024 * 1024;
