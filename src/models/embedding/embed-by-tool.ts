import type { Embedded } from './embedding-call.ts';

/**
 * Calls a tool with `{"texts": […]}` and reads its `{"embeddings": [[…], …]}`. Throws PROVIDER_FAILED for a tool that fails, and
 * DENIED where hooks stop the call.
 */
export type EmbedByTool = (asked: {
  readonly provider: string;
  readonly tool: string;
  readonly texts: readonly string[];
  readonly signal: AbortSignal | undefined;
}) => Promise<Embedded>;
